//! Masks with a block of true elements at the origin: `create_mask`, `constant_mask`.

use super::build::replace_by_uniform;
use super::types::{MASK, check, ints, scalable, shape};
use super::{VectorScaleOp, data};
use crate::arith::MulIOp;
use crate::constraint::{I64_LIST, INDEX};
use gradus_ir::eval::{Datum, Trap};
use gradus_ir::{
    Module, Op, OpArgs, OpDecl, OpState, Pattern, PatternRewriter, Rewriter, Traits, VSCALE, Value, Violation, op,
};

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
    patterns = &[Pattern { name: "constant bounds", run: constant_bounds }],
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

fn verify_create(m: &Module, op: Op) -> Result<(), Violation> {
    let (rank, given) = (shape(&m.ctx, m.value_type(m.result(op, 0))).len(), m.operands(op).len());
    if rank == 0 {
        return check(given == 1, || "must specify exactly one operand for 0-D create_mask".into());
    }
    check(given == rank, || "must specify an operand for each result vector dimension".into())
}

fn verify_constant(m: &Module, op: Op) -> Result<(), Violation> {
    let ty = m.value_type(m.result(op, 0));
    let (extents, sizes) = (shape(&m.ctx, ty), ints(m, op, "mask_dim_sizes"));
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

/// Known information on a mask bound.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Bound {
    /// Empty.
    Nothing,
    /// A proper prefix of the extent.
    Some(i64),
    /// The whole extent.
    All,
}

/// Returns the bound of a dimension; for scalable dimensions only empty and whole are known.
fn bound(m: &Module, value: Value, extent: i64, scalable: bool) -> Option<Bound> {
    if let Some(n) = m.constant_int(value) {
        return match n {
            ..=0 => Some(Bound::Nothing),
            _ if scalable => None,
            n if n >= extent => Some(Bound::All),
            n => Some(Bound::Some(n)),
        };
    }
    let product = MulIOp::defining(m, value).filter(|_| scalable)?;
    let (lhs, rhs) = (product.lhs(m), product.rhs(m));
    let factor = if VectorScaleOp::defining(m, lhs).is_some() { rhs } else { lhs };
    let times = VectorScaleOp::defining(m, lhs).is_some() || VectorScaleOp::defining(m, rhs).is_some();
    m.constant_int(factor).filter(|&n| times && n >= extent && n < MAX_FACTOR).map(|_| Bound::All)
}

/// Largest multiple of `vscale` that cannot overflow.
const MAX_FACTOR: i64 = 1 << 32;

/// Folds constant bounds to a constant mask, and uniform masks to a constant.
fn constant_bounds(r: &mut Rewriter<'_>, op: Op) -> bool {
    let m = r.module();
    let ty = m.value_type(m.result(op, 0));
    let (extents, flags) = (shape(&m.ctx, ty), scalable(&m.ctx, ty));
    if extents.is_empty() {
        let bound = m.constant_int(m.operands(op)[0]);
        return bound.is_some_and(|n| replace_by_uniform(r, op, n > 0));
    }
    let known = m.operands(op).iter().zip(extents.iter().zip(flags)).map(|(&v, (&d, &s))| bound(m, v, d, s));
    let Some(bounds) = known.collect::<Option<Vec<Bound>>>() else { return false };
    if bounds.contains(&Bound::Nothing) {
        return replace_by_uniform(r, op, false);
    }
    if bounds.iter().all(|&b| b == Bound::All) {
        return replace_by_uniform(r, op, true);
    }
    let size = |(bound, &extent): (&Bound, &i64)| if let Bound::Some(n) = bound { *n } else { extent };
    let sizes: Vec<i64> = bounds.iter().zip(extents).map(size).collect();
    let mut state = OpState::new(&m.ctx, ConstantMaskOp::INFO.name, m.loc(op));
    state.inherent(&m.ctx, "mask_dim_sizes", Some(m.ctx.i64_array_attr(&sizes)));
    state.result_types.push(ty);
    r.replace_with(op, state).is_ok()
}

/// Returns the value of a uniform mask.
pub(super) fn truth(m: &Module, mask: Value) -> Option<bool> {
    let ctx = &m.ctx;
    if let Some(constant) = m.constant(mask) {
        return ctx.as_uniform(constant).map(|n| n != 0.0);
    }
    let (sizes, ty) = if let Some(mask) = ConstantMaskOp::defining(m, mask) {
        (ints(m, mask.0, "mask_dim_sizes"), m.value_type(mask.result(m)))
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
