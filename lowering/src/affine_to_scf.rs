//! `lower-affine`: affine loops, conditions and accesses to loops of `scf`, arithmetic and accesses of `memref`.
//!
//! The ops are lowered from the last to the first, so that what is inside is lowered before what is around.

mod arithmetic;
mod index;

use arithmetic::Emitter;
use gradus_dialects::affine::{
    AffineValueMap, ApplyOp, Bounds, DelinearizeIndexOp, DmaStartOp, DmaWaitOp, ForOp, GroupedBounds, IfOp,
    LinearizeIndexOp, LoadOp, MaxOp, MinOp, ParallelOp, PrefetchOp, Reduction, StoreOp, VectorLoadOp, VectorStoreOp,
    YieldOp, folded_map, simple_bound,
};
use gradus_dialects::{memref, scf};
use gradus_ir::affine::AffineMap;
use gradus_ir::rewrite::fold;
use gradus_ir::symbols::SymbolTables;
use gradus_ir::{
    AttrData, Builder, Diagnostic, FoldResult, Folded, Module, Op, OpDecl, OpInfo, OpState, Pass, PassContext,
    PassInfo, Region, Type, Value, ValueList,
};

/// The declaration.
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
    make: |_| Ok(Box::new(LowerAffine)),
    ..PassInfo::DEFAULT
};

struct LowerAffine;

impl Pass for LowerAffine {
    fn run(&mut self, m: &mut Module, root: Op, cx: &mut PassContext<'_>) -> Result<(), Diagnostic> {
        let ops = m.ops_under(root).split_off(1);
        let mut symbols = SymbolTables::default();
        for op in ops.into_iter().rev() {
            let Some(lower) = lowering(m, op) else { continue };
            let loc = m.loc(op);
            match folded(m, op, &mut symbols) {
                Some(values) => replace(m, op, &values),
                None => lower(m, op).map_err(|message| Diagnostic::error(loc, message))?,
            }
            cx.count("num-lowered", 1);
        }
        Ok(())
    }
}

type Lower = fn(&mut Module, Op) -> Result<(), String>;

/// What lowers an op.
fn lowering(m: &Module, op: Op) -> Option<Lower> {
    let info = m.info(op)?;
    let known: [(&'static OpInfo, Lower); 16] = [
        (ApplyOp::INFO, lower_apply),
        (MinOp::INFO, lower_min),
        (MaxOp::INFO, lower_max),
        (ForOp::INFO, lower_for),
        (IfOp::INFO, lower_if),
        (ParallelOp::INFO, lower_parallel),
        (YieldOp::INFO, lower_yield),
        (LoadOp::INFO, lower_load),
        (StoreOp::INFO, lower_store),
        (VectorLoadOp::INFO, lower_vector_load),
        (VectorStoreOp::INFO, lower_vector_store),
        (PrefetchOp::INFO, lower_prefetch),
        (DmaStartOp::INFO, lower_dma_start),
        (DmaWaitOp::INFO, lower_dma_wait),
        (DelinearizeIndexOp::INFO, index::lower_delinearize),
        (LinearizeIndexOp::INFO, index::lower_linearize),
    ];
    known.into_iter().find(|(known, _)| std::ptr::eq(*known, info)).map(|(_, lower)| lower)
}

/// What an op is equal to, if it need not be lowered.
fn folded(m: &mut Module, op: Op, symbols: &mut SymbolTables) -> Option<Vec<Value>> {
    let known = LoadOp::cast(m, op).and_then(|load| load.known_element(m, |at, name| symbols.resolve(m, at, name)));
    let results = match known {
        Some(element) => vec![FoldResult::Attr(element)],
        None => match fold(m, op)? {
            Folded::Results(results) => results,
            Folded::InPlace => return None,
        },
    };
    let types = result_types(m, op);
    let mut e = Emitter::before(m, op);
    let value = |(result, ty): (FoldResult, Type)| match result {
        FoldResult::Value(value) => Some(value),
        FoldResult::Attr(attr) => e.b.constant(attr, ty, "arith", e.loc),
    };
    results.into_iter().zip(types).map(value).collect()
}

/// What was cast, if it is a cast of a memref of known rank.
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

/// Makes the results of `op` those values, and erases it.
fn replace(m: &mut Module, op: Op, values: &[Value]) {
    for (result, &value) in m.results(op).zip(values) {
        m.replace_all_uses(result, value);
    }
    m.erase_op(op);
}

/// The map in the inherent attribute `name`.
fn map(m: &Module, op: Op, name: &str) -> Result<AffineMap, String> {
    match m.inherent_attr(op, name).map(|a| m.ctx.attr_data(a)) {
        Some(AttrData::AffineMap(map)) => Ok((**map).clone()),
        _ => Err(format!("'{}' op has no map '{name}'", m.name_text(op))),
    }
}

fn lower_apply(m: &mut Module, op: Op) -> Result<(), String> {
    let (map, operands) = (map(m, op, "map")?, m.operands(op).to_vec());
    let values = Emitter::before(m, op).map(&map, &operands)?;
    replace(m, op, &values);
    Ok(())
}

fn lower_min(m: &mut Module, op: Op) -> Result<(), String> {
    lower_extreme(m, op, false)
}

fn lower_max(m: &mut Module, op: Op) -> Result<(), String> {
    lower_extreme(m, op, true)
}

fn lower_extreme(m: &mut Module, op: Op, max: bool) -> Result<(), String> {
    let applied = folded_map(m, op).ok_or("the op has no map")?;
    let value = Emitter::before(m, op).extreme(&applied.to_map(), &applied.operands, max)?;
    replace(m, op, &[value]);
    Ok(())
}

/// Gives the blocks of a region to a region without blocks.
fn take_body(m: &mut Module, from: Region, to: Op, i: usize) {
    let to = m.regions(to)[i];
    m.move_blocks(from, to);
}

fn lower_for(m: &mut Module, op: Op) -> Result<(), String> {
    let this = ForOp(op);
    let step = this.bounds(m).ok_or("the loop has no bounds")?.step;
    let [lower, upper] = this.applied_bounds(m).ok_or("the loop has no bounds")?;
    let (lower, upper) = (simple_bound(m, &lower, true), simple_bound(m, &upper, false));
    let (inits, types) = (this.inits(m), result_types(m, op));
    let trips = Bounds { lower: &lower.to_map(), upper: &upper.to_map(), step }.trip_count();
    if let Some(values) = this.trivial_results(m, trips).filter(|_| !types.is_empty()) {
        replace(m, op, &values);
        return Ok(());
    }
    let mut e = Emitter::before(m, op);
    let lower = e.extreme(&lower.to_map(), &lower.operands, true)?;
    let upper = e.extreme(&upper.to_map(), &upper.operands, false)?;
    let step = e.index(step);
    let made = scf::ForOp::build(&mut e.b, e.loc, lower, upper, step, &inits, None, &types);
    take_body(m, this.region(m), made.0, 0);
    let results: ValueList = m.results(made.0).collect();
    replace(m, op, &results);
    Ok(())
}

fn result_types(m: &Module, op: Op) -> Vec<Type> {
    m.results(op).map(|v| m.value_type(v)).collect()
}

fn lower_if(m: &mut Module, op: Op) -> Result<(), String> {
    let this = IfOp(op);
    let (set, operands) = this.simple_condition(m).ok_or("the condition has no set")?;
    let types = result_types(m, op);
    let mut e = Emitter::before(m, op);
    let condition = e.condition(&set, &operands)?;
    let made = scf::IfOp::build(&mut e.b, e.loc, condition, &types);
    take_body(m, this.then_region(m), made.0, 0);
    take_body(m, this.else_region(m), made.0, 1);
    let results: ValueList = m.results(made.0).collect();
    replace(m, op, &results);
    Ok(())
}

fn lower_parallel(m: &mut Module, op: Op) -> Result<(), String> {
    let this = ParallelOp(op);
    if this.step_sizes(m).is_empty() {
        return Err("a loop without dimensions has no counterpart".into());
    }
    let groups = this.bounds(m).ok_or("the loop has no bounds")?;
    let [lower, upper] = this.simple_bounds(m).ok_or("the loop has no bounds")?;
    let slices = |bounds: &AffineValueMap, groups: &GroupedBounds<'_>| {
        let slice =
            |range: std::ops::Range<usize>| AffineMap { results: bounds.exprs[range].into(), ..bounds.to_map() };
        groups.ranges().map(slice).collect::<Vec<AffineMap>>()
    };
    let (lowers, uppers, steps) = (slices(&lower, &groups[0]), slices(&upper, &groups[1]), this.step_sizes(m));
    let (kinds, types) = (this.kinds(m), result_types(m, op));
    let mut e = Emitter::before(m, op);
    let (mut first, mut end) = (Vec::new(), Vec::new());
    for (lower_map, upper_map) in lowers.iter().zip(&uppers) {
        first.push(e.extreme(lower_map, &lower.operands, true)?);
        end.push(e.extreme(upper_map, &upper.operands, false)?);
    }
    let steps: Vec<Value> = steps.into_iter().map(|step| e.index(step)).collect();
    let mut inits = Vec::new();
    for (kind, &ty) in kinds.iter().zip(&types) {
        let identity = kind.identity(&e.b.module.ctx, ty);
        let init = identity.and_then(|identity| e.b.constant(identity, ty, "arith", e.loc));
        inits.push(init.ok_or("Reduction operation type not supported")?);
    }
    let made = scf::ParallelOp::build(&mut e.b, e.loc, &first, &end, &steps, &inits, &types);
    take_body(m, this.region(m), made.0, 0);
    let results: ValueList = m.results(made.0).collect();
    replace(m, op, &results);
    Ok(())
}

/// Ends the body of what is around, which is not lowered yet.
fn lower_yield(m: &mut Module, op: Op) -> Result<(), String> {
    let (loc, operands) = (m.loc(op), m.operands(op).to_vec());
    match m.parent_op(op).and_then(|parent| ParallelOp::cast(m, parent)) {
        Some(parallel) => {
            let kinds = parallel.kinds(m);
            let made = scf::ReduceOp::build(&mut Builder::before(m, op), loc, &operands, &[]);
            for (kind, &value) in kinds.iter().zip(&operands) {
                let region = m.add_region(made.0);
                reduction(m, region, kind, value)?;
            }
        }
        None => {
            scf::YieldOp::build(&mut Builder::before(m, op), loc, &operands, &[]);
        }
    }
    m.erase_op(op);
    Ok(())
}

/// Fills a region of `scf.reduce`: it combines two values like `like`.
fn reduction(m: &mut Module, region: Region, kind: &Reduction, like: Value) -> Result<(), String> {
    let (ty, loc) = (m.value_type(like), m.value_loc(like));
    let info = kind.op().filter(|info| (info.operands[0].ty.check)(&m.ctx, ty));
    let info = info.ok_or("Reduction operation type not supported")?;
    let block = m.add_block(region);
    let args = [m.add_block_arg(block, ty, loc), m.add_block_arg(block, ty, loc)];
    let mut b = Builder::at_end(m, block);
    let mut state = OpState::new(&b.module.ctx, info.name, loc);
    state.operands.extend(args);
    let op = b.try_create(state)?;
    let value = b.module.result(op, 0);
    scf::ReduceReturnOp::build(&mut b, loc, value, &[]);
    Ok(())
}

/// The indices of an access, whose map's operands begin with number `first`.
fn indices<'m>(m: &'m mut Module, op: Op, first: usize) -> Result<(Emitter<'m>, Vec<Value>), String> {
    let (map, operands) = (map(m, op, "map")?, m.operands(op)[first..].to_vec());
    let mut e = Emitter::before(m, op);
    let values = e.map(&map, &operands)?;
    Ok((e, values))
}

fn lower_load(m: &mut Module, op: Op) -> Result<(), String> {
    let memory = uncast(m, LoadOp(op).memref(m));
    let (mut e, at) = indices(m, op, 1)?;
    let value = memref::LoadOp::build(&mut e.b, e.loc, memory, &at, None, None, &[]).result(e.b.module);
    replace(m, op, &[value]);
    Ok(())
}

fn lower_store(m: &mut Module, op: Op) -> Result<(), String> {
    let (value, memory) = (StoreOp(op).value(m), uncast(m, StoreOp(op).memref(m)));
    let (mut e, at) = indices(m, op, 2)?;
    memref::StoreOp::build(&mut e.b, e.loc, value, memory, &at, None, None, &[]);
    m.erase_op(op);
    Ok(())
}

fn lower_prefetch(m: &mut Module, op: Op) -> Result<(), String> {
    let this = PrefetchOp(op);
    let memory = uncast(m, this.memref(m));
    let flags = this.is_write(m).zip(this.locality_hint(m)).zip(this.is_data_cache(m));
    let ((write, locality), data) = flags.ok_or("the prefetch says nothing")?;
    let (mut e, at) = indices(m, op, 1)?;
    memref::PrefetchOp::build(&mut e.b, e.loc, memory, &at, write, locality, data, &[]);
    m.erase_op(op);
    Ok(())
}

fn lower_vector_load(m: &mut Module, op: Op) -> Result<(), String> {
    lower_vector(m, op, 1, "vector.load")
}

fn lower_vector_store(m: &mut Module, op: Op) -> Result<(), String> {
    lower_vector(m, op, 2, "vector.store")
}

/// The op of the `vector` dialect with the same operands in front of the indices, and the same results.
fn lower_vector(m: &mut Module, op: Op, first: usize, name: &str) -> Result<(), String> {
    let rank = |value: Option<Value>| value.and_then(|v| m.ctx.shape(m.value_type(v))).map(<[i64]>::len);
    let vector = m.results(op).next().or(m.operands(op).first().copied());
    if rank(vector) > rank(Some(m.operands(op)[first - 1])) {
        return Err(format!("'{name}' accesses no vectors of more dimensions than the memory"));
    }
    let mut state = OpState::new(&m.ctx, name, m.loc(op));
    state.operands.extend_from_slice(&m.operands(op)[..first - 1]);
    state.operands.push(uncast(m, m.operands(op)[first - 1]));
    state.result_types.extend(result_types(m, op));
    let (mut e, at) = indices(m, op, first)?;
    state.operands.extend(at);
    let made = e.b.try_create(state)?;
    let results: ValueList = m.results(made).collect();
    replace(m, op, &results);
    Ok(())
}

fn lower_dma_start(m: &mut Module, op: Op) -> Result<(), String> {
    let (places, rest) = DmaStartOp(op).memref_accesses(m).ok_or("the copy has no places")?;
    let operands = m.operands(op).to_vec();
    let places =
        places.map(|place| (uncast(m, operands[place.memref]), place.map.clone(), operands[place.indices].to_vec()));
    let mut e = Emitter::before(m, op);
    let mut parts = Vec::new();
    for (memory, map, inputs) in &places {
        let mut part = vec![*memory];
        part.extend(e.map(map, inputs)?);
        parts.push(part);
    }
    // The number of elements comes before the tag.
    parts.insert(2, vec![operands[rest]]);
    parts.push(operands[rest + 1..].to_vec());
    memref::DmaStartOp::build(&mut e.b, e.loc, &parts.concat(), &[]);
    m.erase_op(op);
    Ok(())
}

fn lower_dma_wait(m: &mut Module, op: Op) -> Result<(), String> {
    let tag = DmaWaitOp(op).tag(m).ok_or("the wait has no tag")?;
    let operands = m.operands(op).to_vec();
    let memory = uncast(m, operands[0]);
    let (map, inputs, count) = (tag.map.clone(), operands[tag.indices.clone()].to_vec(), operands[tag.indices.end]);
    let mut e = Emitter::before(m, op);
    let at = e.map(&map, &inputs)?;
    memref::DmaWaitOp::build(&mut e.b, e.loc, memory, &at, count, &[]);
    m.erase_op(op);
    Ok(())
}
