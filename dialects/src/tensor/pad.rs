//! `tensor.pad`.

mod fold;

use super::generate::{ElementChunks, YieldOp, element_edges, indices};
use super::types::{shape, with_shape};
use super::{data, names};
use crate::constraint::{I64_ARRAY, INDEX, RANKED_TENSOR};
use crate::directives::DYNAMIC_INDEX_LIST;
use crate::views::{Mixed, mixed_entries, runtime_entries};
use gradus_ir::control::{Event, Next};
use gradus_ir::effects::is_speculatable;
use gradus_ir::eval::{Datum, Trap};
use gradus_ir::{
    AttrKind, AttrText, Context, DYNAMIC, Effects, Module, Op, OpArgs, OpDecl, Region, Traits, Type, Value, Violation,
    op,
};

/// Pads a tensor with elements computed by a region from their indices in the result. Negative padding crops. `nofold`
/// keeps the op even if the padding is empty.
///
/// ```mlir
/// %0 = tensor.pad %a low[0, %n] high[1, 0] {
/// ^bb0(%i: index, %j: index):
///   tensor.yield %s : f32
/// } : tensor<4x?xf32> to tensor<5x?xf32>
/// ```
#[op(
    "tensor.pad",
    traits = Traits::OPERAND_SEGMENTS.and(Traits::SINGLE_BLOCK),
    effects = Effects::Recursive,
    speculatable = is_defined,
    implicit_terminator = "tensor.yield",
    directives = &[&DYNAMIC_INDEX_LIST],
    verify = verify,
    fold = fold::fold_pad,
    control = pad,
    edges = |_, _| element_edges(),
    patterns = fold::PATTERNS,
    result_names = |_, _| names("padded"),
    format = "$source (`nofold` $nofold^)? `low` `` custom<DynamicIndexList>($low, $static_low)
              `high` `` custom<DynamicIndexList>($high, $static_high)
              $region attr-dict `:` type($source) `to` type($result)"
)]
pub struct PadOp {
    /// Tensor without the padding.
    source: Operand<RANKED_TENSOR>,
    /// Dynamic low padding.
    low: Operands<INDEX>,
    /// Dynamic high padding.
    high: Operands<INDEX>,
    /// Static low padding, with placeholders for dynamic entries.
    static_low: Attribute<I64_ARRAY>,
    /// Static high padding, with placeholders for dynamic entries.
    static_high: Attribute<I64_ARRAY>,
    /// Whether the op is kept even if the padding is empty.
    nofold: OptAttribute<NOFOLD>,
    /// Computes a padding element from its indices.
    region: Region,
    /// Padded tensor.
    result: OpResult<RANKED_TENSOR>,
}

const NOFOLD: AttrKind = AttrKind { text: AttrText::Flag, ..crate::constraint::UNIT };

/// Returns the low and high padding of an op.
fn margins(args: &OpArgs<'_>) -> [Vec<Mixed>; 2] {
    [mixed_entries(args, "low", "static_low"), mixed_entries(args, "high", "static_high")]
}

/// Returns the type of `from` after padding.
fn padded_type(ctx: &Context, from: Type, [low, high]: &[Vec<Mixed>; 2]) -> Option<Type> {
    let sum = |((&d, l), h): ((&i64, &Mixed), &Mixed)| match (d, l.or_placeholder(), h.or_placeholder()) {
        (DYNAMIC, ..) | (_, DYNAMIC, _) | (.., DYNAMIC) => Some(DYNAMIC),
        (d, l, h) => d.checked_add(l)?.checked_add(h).filter(|n| *n >= 0),
    };
    let extents = shape(ctx, from);
    if extents.len() != low.len() || extents.len() != high.len() {
        return None;
    }
    let sums: Option<Vec<i64>> = extents.iter().zip(low).zip(high).map(sum).collect();
    Some(with_shape(ctx, from, &sums?))
}

/// Whether the op cannot fail for any operands: no extent can be negative or contradict the type.
fn is_defined(m: &Module, op: Op) -> bool {
    let pad = PadOp(op);
    let Some(margins) = m.with_args(op, margins) else { return false };
    let (source, result) = (m.value_type(pad.source(m)), m.value_type(pad.result(m)));
    let adds = |(i, margin): (usize, &Mixed)| match margin {
        Mixed::Static(n) => *n >= 0 || shape(&m.ctx, source)[i] != DYNAMIC,
        Mixed::Dynamic(_) => false,
    };
    padded_type(&m.ctx, source, &margins).is_some_and(|padded| shape(&m.ctx, padded) == shape(&m.ctx, result))
        && margins.iter().all(|list| list.iter().enumerate().all(adds))
}

/// Whether the number of executions of the region is unobservable.
fn only_computes(m: &Module, region: Region) -> bool {
    let ops = m.region_blocks(region).flat_map(|b| m.block_ops(b));
    ops.into_iter().all(|op| m.has_trait(op, Traits::TERMINATOR) || is_speculatable(m, op))
}

/// Returns the value that the region yields for every element, if it is defined outside and the region has no effects.
fn padding_value(m: &Module, region: Region) -> Option<Value> {
    let block = m.entry(region).filter(|_| only_computes(m, region))?;
    let value = YieldOp::cast(m, m.last_op(block)?)?.value(m);
    match m.defining_op(value) {
        Some(def) if m.is_inside(def, m.block_op(block)?) => None,
        None if m.block_args(block).contains(&value) => None,
        _ => Some(value),
    }
}

fn verify(m: &Module, op: Op) -> Result<(), Violation> {
    let ctx = &m.ctx;
    let pad = PadOp(op);
    let (from, to) = (m.value_type(pad.source(m)), m.value_type(pad.result(m)));
    let Some(args) = m.args(op) else { return Ok(()) };
    for (group, statics) in [("low", "static_low"), ("high", "static_high")] {
        let open = args.ints(statics).unwrap_or_default().iter().filter(|&&n| n == DYNAMIC).count();
        let given = args.operand(group).len();
        if open != given {
            return Err(format!(
                "expected the number of '{group}' to match the number of dynamic entries in '{statics}' ({given} vs {open})"
            ).into());
        }
    }
    let Some(want) = padded_type(ctx, from, &margins(&args)) else {
        let (from, to) = (ctx.display_type(from), ctx.display_type(to));
        return Err(
            format!("failed to infer expectedType from sourceType '{from}', specified resultType is '{to}'").into()
        );
    };
    let (have, known) = (shape(ctx, to), shape(ctx, want));
    let fits = have.len() == known.len() && have.iter().zip(known).all(|(a, b)| a == b || *b == DYNAMIC);
    if !fits || ctx.element_type(from) != ctx.element_type(to) {
        let (have, want) = (ctx.display_type(to), ctx.display_type(want));
        return Err(format!("specified type '{have}' does not match the inferred type '{want}'").into());
    }
    verify_region(m, pad.region(m), known.len(), ctx.element_type(to))
}

fn verify_region(m: &Module, region: Region, rank: usize, elem: Type) -> Result<(), Violation> {
    let Some(block) = m.entry(region) else {
        return Err("region #0 ('region') failed to verify constraint: region with 1 blocks".into());
    };
    let args = m.block_args(block);
    if args.len() != rank {
        return Err(format!("expected the block to have {rank} arguments").into());
    }
    if let Some(i) = args.iter().position(|&arg| m.value_type(arg) != Type::INDEX) {
        return Err(format!("expected block argument {} to be an index", i + 1).into());
    }
    let Some(end) = m.last_op(block) else { return Ok(()) };
    let Some(end) = YieldOp::cast(m, end) else {
        return Err(format!("expects regions to end with 'tensor.yield', found '{}'", m.name_text(end)).into());
    };
    if m.operands(end.0).first().map(|&v| m.value_type(v)) != Some(elem) {
        return Err("expected yield type to match shape element type".into());
    }
    Ok(())
}

/// Mapping from result elements to source elements.
struct PaddedIndexing<'a> {
    source: &'a Datum,
    extents: &'a [usize],
    low: Vec<i64>,
    shape: Vec<usize>,
}

impl<'a> PaddedIndexing<'a> {
    fn new(args: &OpArgs<'_>, data: &'a [Datum]) -> Result<PaddedIndexing<'a>, Trap> {
        let source = &data[0];
        let extents = source.shape().ok_or_else(|| Trap::unsupported("a tensor of unknown extents"))?;
        let low = runtime_entries(args, data, "low", "static_low")?;
        let high = runtime_entries(args, data, "high", "static_high")?;
        let sizes = extents.iter().zip(&low).zip(&high);
        let sizes: Vec<i64> = sizes.map(|((&d, &l), &h)| (d as i64).saturating_add(l).saturating_add(h)).collect();
        let shape = data::extents(&sizes)?;
        match data::has_type(args.ctx(), args.result_types[0], &shape) {
            true => Ok(PaddedIndexing { source, extents, low, shape }),
            false => Err(Trap::Ub(format!("the result has extents {shape:?}, which contradict its type"))),
        }
    }

    /// Returns the source element of result element `at`; `None` for padding.
    fn inner(&self, at: &[Datum]) -> Option<usize> {
        let shifted = at.iter().zip(&self.low).map(|(i, low)| i.int().map_or(-1, |i| i.saturating_sub(*low)));
        data::position(self.extents, &shifted.collect::<Vec<_>>()).ok()
    }
}

fn pad(args: &OpArgs<'_>, data: &[Datum], event: Event<'_>) -> Result<Next, Trap> {
    if data.contains(&Datum::Poison) {
        return match args.op.is_some_and(|op| is_defined(args.module, op) && is_speculatable(args.module, op)) {
            true => Ok(Next::Done(vec![Datum::Poison])),
            false => Err(Trap::Ub("an extent is poison".into())),
        };
    }
    let layout = PaddedIndexing::new(args, data)?;
    let dtype = data::dtype(args.ctx(), args.result_types[0])?;
    let mut elements = ElementChunks::after(event, layout.shape.len(), dtype)?;
    let count = layout.shape.iter().product();
    while elements.len() < count {
        let mut at = indices(&layout.shape, elements.len());
        let Some(number) = layout.inner(&at) else {
            at.append(&mut elements.chunks);
            return Ok(Next::Region(0, at));
        };
        elements.push(Datum::from_elements(dtype, &[1], &[data::element_of(layout.source, number)?])?);
    }
    Ok(Next::Done(vec![elements.finish(&layout.shape)]))
}
