//! `lower-affine`: lowers affine loops, conditions and accesses to `scf` loops, arithmetic, and `memref` accesses.
//!
//! Ops are lowered in reverse order, so that nested ops are lowered before their parent.

mod arithmetic;
mod index;

use arithmetic::{ArithmeticBuilder, emit};
use gradus_dialects::affine::{
    AffineValueMap, ApplyOp, DelinearizeIndexOp, DmaStartOp, DmaWaitOp, ForOp, GroupedBounds, IfOp, LinearizeIndexOp,
    LoadOp, LoopBounds, MaxOp, MinOp, ParallelOp, PrefetchOp, ReductionKind, StoreOp, VectorLoadOp, VectorStoreOp,
    YieldOp, folded_map, simple_bound,
};
use gradus_dialects::{memref, scf, vector};
use gradus_ir::affine::AffineMap;
use gradus_ir::conversion::{
    ConversionConfig, ConversionPattern, ConversionRewriter, ConversionTarget, Match, VisitOrder,
    apply_counted_conversion,
};
use gradus_ir::pass::Rewrites;
use gradus_ir::{
    AttrData, Diagnostic, InsertPoint, Module, Op, OpDecl, OpInfo, OpState, Pass, PassContext, PassInfo,
    PatternRewriter, Region, Type, Value, ValueList,
};

/// The declaration of the pass.
pub const INFO: PassInfo = PassInfo {
    name: "lower-affine",
    doc: "Lower Affine operations to a combination of Arith and SCF operations

# Before / After

```mlir
affine.for %i = 0 to %n {                   // becomes:   %c0 = arith.constant 0 : index
  %x = affine.load %m[%i + 1] : memref<?xf32> //          %c1 = arith.constant 1 : index
}                                           //            scf.for %i = %c0 to %n step %c1 {
                                            //              %c1_0 = arith.constant 1 : index
                                            //              %0 = arith.addi %i, %c1_0 : index
                                            //              %x = memref.load %m[%0] : memref<?xf32>
                                            //            }
```

# Does

Replaces all ops of the `affine` dialect. Divisions become divisions rounded toward zero, with a correction.

# Refuses

Divisions by constants below one, and reductions that `arith` has no op for.

# Cost

Linear in the number of ops and in the size of affine expressions.",
    statistics: &[("num-lowered", "Number of operations lowered")],
    rewrites: Rewrites::Names(|_| patterns().iter().map(|pattern| pattern.name.to_owned()).collect()),
    make: |_| Ok(Box::new(LowerAffine)),
    ..PassInfo::DEFAULT
};

struct LowerAffine;

impl Pass for LowerAffine {
    fn run(&mut self, m: &mut Module, root: Op, cx: &mut PassContext<'_>) -> Result<(), Diagnostic> {
        let patterns = patterns();
        let mut target = ConversionTarget::new("scf");
        target.illegal_dialect("affine");
        target.legal_unknown();
        // Bounds and conditions are simplified while their operands are affine.
        let config = ConversionConfig { order: VisitOrder::Backward, ..ConversionConfig::PARTIAL };
        let report = apply_counted_conversion(m, root, &target, &patterns, config, cx.actions())?;
        cx.count("num-lowered", report.converted);
        Ok(())
    }
}

type Lower = fn(&mut ConversionRewriter<'_>, Op) -> Match;

/// The lowered ops with their pattern names.
const LOWERINGS: [(&OpInfo, &str, Lower); 16] = [
    (ApplyOp::INFO, "apply-to-arith", lower_apply),
    (MinOp::INFO, "min-to-arith", lower_min),
    (MaxOp::INFO, "max-to-arith", lower_max),
    (ForOp::INFO, "for-to-scf", lower_for),
    (IfOp::INFO, "if-to-scf", lower_if),
    (ParallelOp::INFO, "parallel-to-scf", lower_parallel),
    (YieldOp::INFO, "yield-to-scf", lower_yield),
    (LoadOp::INFO, "load-to-memref", lower_load),
    (StoreOp::INFO, "store-to-memref", lower_store),
    (VectorLoadOp::INFO, "load-to-vector", lower_vector_load),
    (VectorStoreOp::INFO, "store-to-vector", lower_vector_store),
    (PrefetchOp::INFO, "prefetch-to-memref", lower_prefetch),
    (DmaStartOp::INFO, "dma-start-to-memref", lower_dma_start),
    (DmaWaitOp::INFO, "dma-wait-to-memref", lower_dma_wait),
    (DelinearizeIndexOp::INFO, "delinearize-to-arith", index::lower_delinearize),
    (LinearizeIndexOp::INFO, "linearize-to-arith", index::lower_linearize),
];

fn patterns() -> Vec<ConversionPattern<'static>> {
    let pattern = |(info, name, lower): (&'static OpInfo, _, Lower)| {
        ConversionPattern::new(name, info.name, move |r, op, _| lower(r, op))
    };
    let constant = ConversionPattern::new("load-of-constant", LoadOp::INFO.name, |r, op, _| load_of_constant(r, op));
    LOWERINGS.into_iter().map(pattern).chain([constant.benefit(2)]).collect()
}

/// Folds a load of a known element of a constant global.
fn load_of_constant(r: &mut ConversionRewriter<'_>, op: Op) -> Match {
    let (m, symbols) = r.module_and_symbols();
    let element = LoadOp(op).known_element(m, |at, name| symbols.resolve(m, at, name));
    let (element, ty) = (element.ok_or("the element is not constant")?, m.value_type(m.result(op, 0)));
    let value = emit(r, op, |e| e.b.constant(element, ty, "arith", e.loc)).ok_or("its type has no constants")?;
    r.replace(op, &[value]);
    Ok(())
}

/// Returns the source of ranked memref casts.
fn uncast(m: &Module, mut memory: Value) -> Value {
    while let Some(cast) = memref::CastOp::defining(m, memory) {
        let source = cast.source(m);
        if m.ctx.shape(m.value_type(source)).is_none() {
            break;
        }
        memory = source;
    }
    memory
}

/// Returns the map in the inherent attribute `name`.
fn map(m: &Module, op: Op, name: &str) -> Result<AffineMap, String> {
    match m.inherent_attr(op, name).map(|a| m.ctx.attr_data(a)) {
        Some(AttrData::AffineMap(map)) => Ok((**map).clone()),
        _ => Err(format!("'{}' op has no map '{name}'", m.name_text(op))),
    }
}

fn lower_apply(r: &mut ConversionRewriter<'_>, op: Op) -> Match {
    let (map, operands) = (map(r.module(), op, "map")?, r.module().operands(op).to_vec());
    let values = emit(r, op, |e| e.map(&map, &operands))?;
    r.replace(op, &values);
    Ok(())
}

fn lower_min(r: &mut ConversionRewriter<'_>, op: Op) -> Match {
    lower_extreme(r, op, false)
}

fn lower_max(r: &mut ConversionRewriter<'_>, op: Op) -> Match {
    lower_extreme(r, op, true)
}

fn lower_extreme(r: &mut ConversionRewriter<'_>, op: Op, max: bool) -> Match {
    let applied = folded_map(r.module(), op).ok_or("the op has no map")?;
    let value = emit(r, op, |e| e.extreme(&applied.to_map(), &applied.operands, max))?;
    r.replace(op, &[value]);
    Ok(())
}

/// Moves the blocks of regions into the empty regions of the replacement op.
fn replace_by(r: &mut ConversionRewriter<'_>, op: Op, made: Op, bodies: &[Region]) {
    for (i, &from) in bodies.iter().enumerate() {
        let to = r.module().regions(made)[i];
        r.inline_region(from, to, None);
    }
    let results: ValueList = r.module().results(made).collect();
    r.replace(op, &results);
}

fn lower_for(r: &mut ConversionRewriter<'_>, op: Op) -> Match {
    let (this, m) = (ForOp(op), r.module());
    let step = this.bounds(m).ok_or("the loop has no bounds")?.step;
    let [lower, upper] = this.applied_bounds(m).ok_or("the loop has no bounds")?;
    let (lower, upper) = (simple_bound(m, &lower, true), simple_bound(m, &upper, false));
    let (inits, types, body) = (this.inits(m), result_types(m, op), this.region(m));
    let trips = LoopBounds { lower: &lower.to_map(), upper: &upper.to_map(), step }.trip_count();
    if let Some(values) = this.trivial_results(m, trips).filter(|_| !types.is_empty()) {
        r.replace(op, &values);
        return Ok(());
    }
    let made = emit(r, op, |e| -> Match<Op> {
        let lower = e.extreme(&lower.to_map(), &lower.operands, true)?;
        let upper = e.extreme(&upper.to_map(), &upper.operands, false)?;
        let step = e.index(step);
        Ok(scf::ForOp::build(e.b, e.loc, lower, upper, step, &inits, None, &types).0)
    })?;
    replace_by(r, op, made, &[body]);
    Ok(())
}

fn result_types(m: &Module, op: Op) -> Vec<Type> {
    m.results(op).map(|v| m.value_type(v)).collect()
}

fn lower_if(r: &mut ConversionRewriter<'_>, op: Op) -> Match {
    let (this, m) = (IfOp(op), r.module());
    let (set, operands) = this.simple_condition(m).ok_or("the condition has no set")?;
    let (types, bodies) = (result_types(m, op), [this.then_region(m), this.else_region(m)]);
    let made = emit(r, op, |e| -> Match<Op> {
        let condition = e.condition(&set, &operands)?;
        Ok(scf::IfOp::build(e.b, e.loc, condition, &types).0)
    })?;
    replace_by(r, op, made, &bodies);
    Ok(())
}

fn lower_parallel(r: &mut ConversionRewriter<'_>, op: Op) -> Match {
    let (this, m) = (ParallelOp(op), r.module());
    if this.step_sizes(m).is_empty() {
        return Err("a loop without dimensions cannot be lowered to 'scf.parallel'".into());
    }
    let groups = this.bounds(m).ok_or("the loop has no bounds")?;
    let [lower, upper] = this.simple_bounds(m).ok_or("the loop has no bounds")?;
    let slices = |bounds: &AffineValueMap, groups: &GroupedBounds<'_>| {
        let slice =
            |range: std::ops::Range<usize>| AffineMap { results: bounds.exprs[range].into(), ..bounds.to_map() };
        groups.ranges().map(slice).collect::<Vec<AffineMap>>()
    };
    let (lowers, uppers, steps) = (slices(&lower, &groups[0]), slices(&upper, &groups[1]), this.step_sizes(m));
    let (kinds, types, body) = (this.kinds(m), result_types(m, op), this.region(m));
    let made = emit(r, op, |e| -> Match<Op> {
        let (mut first, mut end) = (Vec::new(), Vec::new());
        for (lower_map, upper_map) in lowers.iter().zip(&uppers) {
            first.push(e.extreme(lower_map, &lower.operands, true)?);
            end.push(e.extreme(upper_map, &upper.operands, false)?);
        }
        let steps: Vec<Value> = steps.into_iter().map(|step| e.index(step)).collect();
        let mut inits = Vec::new();
        for (kind, &ty) in kinds.iter().zip(&types) {
            let identity = kind.identity(&e.m().ctx, ty);
            let init = identity.and_then(|identity| e.b.constant(identity, ty, "arith", e.loc));
            inits.push(init.ok_or(UNSUPPORTED)?);
        }
        Ok(scf::ParallelOp::build(e.b, e.loc, &first, &end, &steps, &inits, &types).0)
    })?;
    replace_by(r, op, made, &[body]);
    Ok(())
}

/// The error for a reduction without a counterpart.
const UNSUPPORTED: &str = "Reduction operation type not supported";

/// Replaces the terminator of a parent that is not lowered yet.
fn lower_yield(r: &mut ConversionRewriter<'_>, op: Op) -> Match {
    let m = r.module();
    let (loc, operands) = (m.loc(op), m.operands(op).to_vec());
    let kinds = m.parent_op(op).and_then(|parent| ParallelOp::cast(m, parent)).map(|parallel| parallel.kinds(m));
    let Some(kinds) = kinds else {
        r.build(InsertPoint::Before(op), |b| scf::YieldOp::build(b, loc, &operands, &[]));
        r.erase(op);
        return Ok(());
    };
    let made = r.build(InsertPoint::Before(op), |b| {
        let made = scf::ReduceOp::build(b, loc, &operands, &[]).0;
        for _ in &kinds {
            b.module.add_region(made);
        }
        made
    });
    for (i, (kind, &value)) in kinds.iter().zip(&operands).enumerate() {
        let region = r.module().regions(made)[i];
        reduction(r, region, kind, value)?;
    }
    r.erase(op);
    Ok(())
}

/// Fills a region of `scf.reduce` that combines two values of the type of `like`.
fn reduction(r: &mut ConversionRewriter<'_>, region: Region, kind: &ReductionKind, like: Value) -> Match {
    let m = r.module();
    let (ty, loc) = (m.value_type(like), m.value_loc(like));
    let info = kind.op().filter(|info| (info.operands[0].ty.check)(&m.ctx, ty)).ok_or(UNSUPPORTED)?;
    let block = r.create_block(region, None, &[(ty, loc); 2]);
    r.build(InsertPoint::End(block), |b| -> Match {
        let mut state = OpState::new(&b.module.ctx, info.name, loc);
        state.operands.extend_from_slice(b.module.block_args(block));
        let op = b.try_create(state)?;
        let value = b.module.result(op, 0);
        scf::ReduceReturnOp::build(b, loc, value, &[]);
        Ok(())
    })
}

/// Inserts ops before an access, with indices computed by its map from the operands that start at `first`.
fn with_indices<T>(
    r: &mut ConversionRewriter<'_>,
    op: Op,
    first: usize,
    make: impl FnOnce(&mut ArithmeticBuilder<'_, '_>, &[Value]) -> T,
) -> Match<T> {
    let (map, operands) = (map(r.module(), op, "map")?, r.module().operands(op)[first..].to_vec());
    emit(r, op, |e| {
        let indices = e.map(&map, &operands)?;
        Ok(make(e, &indices))
    })
}

fn lower_load(r: &mut ConversionRewriter<'_>, op: Op) -> Match {
    let memory = uncast(r.module(), LoadOp(op).memref(r.module()));
    let value = with_indices(r, op, 1, |e, at| {
        memref::LoadOp::build(e.b, e.loc, memory, at, None, None, &[]).result(e.b.module)
    })?;
    r.replace(op, &[value]);
    Ok(())
}

fn lower_store(r: &mut ConversionRewriter<'_>, op: Op) -> Match {
    let (this, m) = (StoreOp(op), r.module());
    let (value, memory) = (this.value(m), uncast(m, this.memref(m)));
    with_indices(r, op, 2, |e, at| memref::StoreOp::build(e.b, e.loc, value, memory, at, None, None, &[]))?;
    r.erase(op);
    Ok(())
}

fn lower_prefetch(r: &mut ConversionRewriter<'_>, op: Op) -> Match {
    let (this, m) = (PrefetchOp(op), r.module());
    let memory = uncast(m, this.memref(m));
    let flags = this.is_write(m).zip(this.locality_hint(m)).zip(this.is_data_cache(m));
    let ((write, locality), data) = flags.ok_or("the prefetch has no flags")?;
    with_indices(r, op, 1, |e, at| {
        memref::PrefetchOp::build(e.b, e.loc, memory, at, write, locality, data, &[]);
    })?;
    r.erase(op);
    Ok(())
}

fn lower_vector_load(r: &mut ConversionRewriter<'_>, op: Op) -> Match {
    lower_vector(r, op, 1, vector::LoadOp::INFO.name)
}

fn lower_vector_store(r: &mut ConversionRewriter<'_>, op: Op) -> Match {
    lower_vector(r, op, 2, vector::StoreOp::INFO.name)
}

/// Creates the op of the `vector` dialect with the same leading operands and results.
fn lower_vector(r: &mut ConversionRewriter<'_>, op: Op, first: usize, name: &str) -> Match {
    let m = r.module();
    let rank = |value: Option<Value>| value.and_then(|v| m.ctx.shape(m.value_type(v))).map(<[i64]>::len);
    let vector = m.results(op).next().or(m.operands(op).first().copied());
    if rank(vector) > rank(Some(m.operands(op)[first - 1])) {
        return Err(format!("'{name}' does not support vectors of higher rank than the memref").into());
    }
    let mut state = OpState::new(&m.ctx, name, m.loc(op));
    state.operands.extend_from_slice(&m.operands(op)[..first - 1]);
    state.operands.push(uncast(m, m.operands(op)[first - 1]));
    state.result_types.extend(result_types(m, op));
    let made = with_indices(r, op, first, |e, at| {
        state.operands.extend_from_slice(at);
        e.b.try_create(state)
    })??;
    replace_by(r, op, made, &[]);
    Ok(())
}

fn lower_dma_start(r: &mut ConversionRewriter<'_>, op: Op) -> Match {
    let m = r.module();
    let (places, rest) = DmaStartOp(op).memref_accesses(m).ok_or("the DMA op has no valid memref accesses")?;
    let operands = m.operands(op).to_vec();
    let places =
        places.map(|place| (uncast(m, operands[place.memref]), place.map.clone(), operands[place.indices].to_vec()));
    emit(r, op, |e| -> Match {
        let mut parts = Vec::new();
        for (memory, map, inputs) in &places {
            let mut part = vec![*memory];
            part.extend(e.map(map, inputs)?);
            parts.push(part);
        }
        // The number of elements precedes the tag.
        parts.insert(2, vec![operands[rest]]);
        parts.push(operands[rest + 1..].to_vec());
        memref::DmaStartOp::build(e.b, e.loc, &parts.concat(), &[]);
        Ok(())
    })?;
    r.erase(op);
    Ok(())
}

fn lower_dma_wait(r: &mut ConversionRewriter<'_>, op: Op) -> Match {
    let m = r.module();
    let tag = DmaWaitOp(op).tag(m).ok_or("the DMA wait has no valid tag")?;
    let operands = m.operands(op).to_vec();
    let memory = uncast(m, operands[0]);
    let (map, inputs, count) = (tag.map.clone(), operands[tag.indices.clone()].to_vec(), operands[tag.indices.end]);
    emit(r, op, |e| -> Match {
        let at = e.map(&map, &inputs)?;
        memref::DmaWaitOp::build(e.b, e.loc, memory, &at, count, &[]);
        Ok(())
    })?;
    r.erase(op);
    Ok(())
}
