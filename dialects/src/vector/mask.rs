//! Masks and masked ops: `create_mask`, `constant_mask`, `mask`, `yield`.

use super::data;
use super::mask_fold as patterns;
use super::mask_text::MASKED;
use super::mask_verify::verify_mask_op;
use super::types::{MASK, RANKED_MASK, check, scalable, shape};
use crate::constraint::I64_LIST;
use crate::constraint::{ANY, INDEX};
use gradus_ir::control::{Event, Next};
use gradus_ir::effects::is_memory_free;
use gradus_ir::eval::{Datum, Trap};
use gradus_ir::memory::Memory;
use gradus_ir::{Effects, Module, Op, OpArgs, OpDecl, Traits, VSCALE, Value, Violation, op};

/// Mask that is true in a block at the origin with dynamic sizes, which are clamped to the extents.
///
/// ```mlir
/// %0 = vector.create_mask %i, %j : vector<4x8xi1>
/// ```
#[op(
    "vector.create_mask",
    traits = Traits::NO_CONSTANT_FOLDING,
    verify = verify_create,
    eval = create_mask,
    patterns = patterns::CREATE,
    format = "$operands attr-dict `:` type($result)"
)]
pub struct CreateMaskOp {
    /// Size of the block per dimension.
    operands: Operands<INDEX>,
    /// Mask.
    result: OpResult<MASK>,
}

/// Mask that is true in a block at the origin with static sizes.
///
/// ```mlir
/// %0 = vector.constant_mask [2, 8] : vector<4x8xi1>
/// ```
#[op(
    "vector.constant_mask",
    verify = verify_constant,
    eval = constant_mask,
    format = "$mask_dim_sizes attr-dict `:` type($result)"
)]
pub struct ConstantMaskOp {
    /// Size of the block per dimension.
    mask_dim_sizes: Attribute<I64_LIST>,
    /// Mask.
    result: OpResult<MASK>,
}

/// Executes an op under a mask. Result elements with false mask are those of `passthru`, if present.
///
/// ```mlir
/// %0 = vector.mask %m { vector.reduction <add>, %v : vector<4xf32> into f32 } : vector<4xi1> -> f32
/// ```
#[op(
    "vector.mask",
    traits = Traits::SINGLE_BLOCK.and(Traits::MASKING),
    effects = Effects::Recursive,
    directives = &[&MASKED],
    verify_regions = verify_mask_op,
    control_memory = choose,
    patterns = patterns::MASKED,
    format = "custom<Masked>($mask, $passthru, $maskRegion, type($results))"
)]
pub struct MaskOp {
    /// Mask of the active elements.
    mask: Operand<RANKED_MASK>,
    /// Elements where the mask is false.
    passthru: OptOperand<ANY>,
    /// Masked op, and a `vector.yield` of its results.
    #[name = "maskRegion"]
    mask_region: Region,
    /// Results of the masked op.
    results: OpResults<ANY>,
}

/// Terminates a region of a vector op and yields values to it.
///
/// ```mlir
/// %0 = vector.mask %m { vector.yield %v : vector<4xf32> } : vector<4xi1> -> vector<4xf32>
/// ```
#[op(
    "vector.yield",
    traits = Traits::TERMINATOR.and(Traits::RETURN_LIKE),
    format = "attr-dict ($operands^ `:` type($operands))?"
)]
pub struct YieldOp {
    /// Yielded values.
    operands: Operands<ANY>,
}

fn verify_create(m: &Module, op: Op) -> Result<(), Violation> {
    let (rank, given) = (shape(&m.ctx, m.value_type(m.result(op, 0))).len(), m.operands(op).len());
    if rank == 0 {
        return check(given == 1, || "must specify exactly one operand for 0-D create_mask".into());
    }
    check(given == rank, || "must specify an operand for each result vector dimension".into())
}

fn verify_constant(m: &Module, op: Op) -> Result<(), Violation> {
    let ty = m.value_type(m.result(op, 0));
    let (extents, sizes) = (shape(&m.ctx, ty), super::slice::ints(m, op, "mask_dim_sizes"));
    if extents.is_empty() {
        check(sizes.len() == 1, || "array attr must have length 1 for 0-D vectors".into())?;
        return check((0..=1).contains(&sizes[0]), || "mask dim size must be either 0 or 1 for 0-D vectors".into());
    }
    check(sizes.len() == extents.len(), || "must specify array attr of size equal vector result rank".into())?;
    for (i, (&size, &extent)) in sizes.iter().zip(extents).enumerate() {
        check((0..=extent).contains(&size), || {
            "array attr of size out of bounds of vector result dimension size".into()
        })?;
        check(!scalable(&m.ctx, ty)[i] || size == 0 || size == extent, || {
            "only supports 'none set' or 'all set' scalable dimensions".into()
        })?;
    }
    let zeros = sizes.iter().filter(|&&n| n == 0).count();
    check(zeros == 0 || zeros == sizes.len(), || {
        "expected all mask dim sizes to be zeros, as a result of conjunction with zero mask dim".into()
    })
}

/// Returns the mask that is true at indices below `sizes`.
fn leading(args: &OpArgs<'_>, sizes: &[i64]) -> Result<Vec<Datum>, Trap> {
    let (ctx, ty) = (args.ctx(), args.result_types[0]);
    let extents = data::extents(ctx, ty)?;
    let inside = |index: Vec<usize>| {
        let scalar = index.is_empty() && sizes.iter().any(|&n| n <= 0);
        Datum::Int(-i64::from(!scalar && index.iter().zip(sizes).all(|(&i, &n)| (i as i64) < n)))
    };
    let all: Vec<Datum> = data::indices(&extents).map(inside).collect();
    data::value_of(ctx, ty, &all).map(|v| vec![v])
}

fn create_mask(args: &OpArgs<'_>, data: &[Datum]) -> Result<Vec<Datum>, Trap> {
    let sizes: Vec<i64> = data.iter().map(Datum::int).collect::<Result<_, _>>()?;
    leading(args, &sizes)
}

fn constant_mask(args: &OpArgs<'_>, _: &[Datum]) -> Result<Vec<Datum>, Trap> {
    let scaled = |(n, &scalable): (i64, &bool)| if scalable { n * VSCALE } else { n };
    let sizes = args.ints("mask_dim_sizes").unwrap_or_default().into_iter();
    let sizes: Vec<i64> = sizes.zip(scalable(args.ctx(), args.result_types[0])).map(scaled).collect();
    leading(args, &sizes)
}

/// Executes the masked op, which applies the mask. A poison mask makes its results poison, unless memory is accessed.
fn control(args: &OpArgs<'_>, data: &[Datum], event: Event<'_>, memory: &mut Memory) -> Result<Next, Trap> {
    let Event::Left { yielded, .. } = event else {
        if data[0].has_poison() && args.op.is_some_and(|op| is_memory_free(args.module, op)) {
            let poison = args.result_types.iter().map(|&ty| args.ctx().poison_of(ty));
            return Ok(Next::Done(poison.collect()));
        }
        memory.around.push(data.to_vec());
        return Ok(Next::Region(0, Vec::new()));
    };
    memory.around.pop();
    Ok(Next::Done(yielded.to_vec()))
}

/// Executes a `vector.mask` without a masked op: the mask selects between yielded and pass-through values.
fn choose(args: &OpArgs<'_>, data: &[Datum], event: Event<'_>, memory: &mut Memory) -> Result<Next, Trap> {
    let next = control(args, data, event, memory)?;
    let alone = args.op.is_some_and(|op| is_empty(args.module, op));
    let (Next::Done(values), [mask, passthru], true) = (&next, data, alone) else { return Ok(next) };
    let (Some(mask), Some(value), Some(other)) =
        (data::elements(mask)?, data::elements(&values[0])?, data::elements(passthru)?)
    else {
        return Ok(Next::Done(vec![Datum::Poison]));
    };
    let pairs = mask.iter().zip(value.into_iter().zip(other));
    let choose = |(m, (a, b)): (&Datum, _)| match m {
        Datum::Poison => Datum::Poison,
        Datum::Int(0) => b,
        _ => a,
    };
    let chosen: Vec<Datum> = pairs.map(choose).collect();
    data::value_of(args.ctx(), args.result_types[0], &chosen).map(|v| Next::Done(vec![v]))
}

/// The mask of an op.
pub(super) struct EnclosingMask {
    /// Whether each element is active.
    pub(super) mask: Vec<bool>,
    /// Elements where the mask is false.
    pub(super) passthru: Option<Datum>,
}

/// Returns the mask of an executed op, if any. Poison is undefined behavior.
pub(super) fn surrounding(args: &OpArgs<'_>, memory: &Memory) -> Result<Option<EnclosingMask>, Trap> {
    if !args.op.is_some_and(|op| is_masked(args.module, op)) {
        return Ok(None);
    }
    let around = memory.around.last().ok_or_else(|| Trap::unsupported("a mask outside of execution"))?;
    let mask = data::elements(&around[0])?.filter(|mask| !mask.contains(&Datum::Poison));
    let mask = mask.ok_or_else(|| Trap::Ub("an op under a poison mask".into()))?;
    let mask = mask.iter().map(|m| *m != Datum::Int(0)).collect();
    Ok(Some(EnclosingMask { mask, passthru: around.get(1).cloned() }))
}

/// Rejects evaluation of an op that may be masked: its result depends on the mask, not only on its operands.
pub(super) fn unmasked(args: &OpArgs<'_>) -> Result<(), Trap> {
    let masked = args.op.is_some_and(|op| is_masked(args.module, op));
    if masked { Err(Trap::unsupported("a masked op without its mask")) } else { Ok(()) }
}

/// Whether an op is masked, so that it cannot be treated as unmasked.
pub(super) fn is_masked(m: &Module, op: Op) -> bool {
    m.parent_op(op).is_some_and(|parent| MaskOp::cast(m, parent).is_some())
}

/// Whether the region masks no op.
pub(super) fn is_empty(m: &Module, op: Op) -> bool {
    let block = m.entry(MaskOp(op).mask_region(m));
    block.is_none_or(|b| m.block_ops(b).count() <= 1)
}

/// Returns the value of a uniform mask.
pub(super) fn truth(m: &Module, mask: Value) -> Option<bool> {
    let ctx = &m.ctx;
    if let Some(constant) = m.constant(mask) {
        return ctx.as_uniform(constant).map(|n| n != 0.0);
    }
    let (sizes, ty) = if let Some(mask) = ConstantMaskOp::defining(m, mask) {
        (super::slice::ints(m, mask.0, "mask_dim_sizes"), m.value_type(mask.result(m)))
    } else {
        let create = CreateMaskOp::defining(m, mask)?;
        let bounds: Option<Vec<i64>> = create.operands(m).iter().map(|&v| m.constant_int(v)).collect();
        (bounds?, m.value_type(mask))
    };
    if sizes.iter().any(|&n| n <= 0) {
        return Some(false);
    }
    let fixed = ConstantMaskOp::defining(m, mask).is_some() || !scalable(ctx, ty).contains(&true);
    (fixed && sizes.iter().zip(shape(ctx, ty)).all(|(n, d)| n >= d)).then_some(true)
}
