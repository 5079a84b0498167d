//! Shape changes: `broadcast`, `shape_cast`, `bitcast`, `transpose`.

mod patterns;

use super::build::replace_by;
use super::data;
use super::types::{check, count, same_element, scalable, scalables, shape, vector};
use crate::constraint::{ANY, I64_LIST, VECTOR};
use gradus_ir::eval::{Datum, Trap};
use gradus_ir::float::FloatKind;
use gradus_ir::{
    Attr, AttrData, Context, DType, Dense, Extension, Folded, Module, Op, OpArgs, OpDecl, Rewriter, Traits, Type,
    Value, Violation, op,
};

/// Broadcasts a scalar or vector along new leading dimensions and unit dimensions.
///
/// ```mlir
/// %0 = vector.broadcast %s : f32 to vector<4xf32>
/// %1 = vector.broadcast %v : vector<4x1xf32> to vector<2x4x8xf32>
/// ```
#[op(
    "vector.broadcast",
    verify = verify_broadcast,
    fold = patterns::fold_broadcast,
    eval = broadcast,
    moves = &["source"],
    patterns = patterns::BROADCAST,
    format = "$source attr-dict `:` type($source) `to` type($vector)"
)]
pub struct BroadcastOp {
    /// Source.
    source: Operand<ANY>,
    /// Broadcast vector.
    vector: OpResult<VECTOR>,
}

/// Reshapes a vector, with elements in row-major order.
///
/// ```mlir
/// %0 = vector.shape_cast %v : vector<4x1x8xf32> to vector<32xf32>
/// ```
#[op(
    "vector.shape_cast",
    verify = verify_shape_cast,
    fold = patterns::fold_shape_cast,
    eval = shape_cast,
    moves = &["source"],
    patterns = patterns::SHAPE_CAST,
    format = "$source attr-dict `:` type($source) `to` type($result)"
)]
pub struct ShapeCastOp {
    /// Vector before the reshape.
    source: Operand<VECTOR>,
    /// Reshaped vector.
    result: OpResult<VECTOR>,
}

/// Reinterprets the bits of each row as elements of another type.
///
/// ```mlir
/// %0 = vector.bitcast %v : vector<2x4xf32> to vector<2x2xi64>
/// ```
#[op(
    "vector.bitcast",
    traits = Traits::NO_CONSTANT_FOLDING,
    verify = verify_bitcast,
    fold = patterns::fold_bitcast,
    patterns = patterns::BITCAST,
    eval = bitcast,
    moves = &["source"],
    format = "$source attr-dict `:` type($source) `to` type($result)"
)]
pub struct BitCastOp {
    /// Reinterpreted vector.
    source: Operand<VECTOR>,
    /// Reinterpreted vector.
    result: OpResult<VECTOR>,
}

/// Permutes the dimensions of a vector.
///
/// ```mlir
/// %0 = vector.transpose %v, [1, 0] : vector<2x4xf32> to vector<4x2xf32>
/// ```
#[op(
    "vector.transpose",
    verify = verify_transpose,
    fold = patterns::fold_transpose,
    eval = transpose,
    moves = &["vector"],
    patterns = patterns::TRANSPOSE,
    format = "$vector `,` $permutation attr-dict `:` type($vector) `to` type($result)"
)]
pub struct TransposeOp {
    /// Vector before the permutation.
    vector: Operand<VECTOR>,
    /// Permutation: result dimension i is source dimension `permutation[i]`.
    permutation: Attribute<I64_LIST>,
    /// Transposed vector.
    result: OpResult<VECTOR>,
}

/// Formats an extent, with brackets if scalable.
fn extent(size: i64, scalable: bool) -> String {
    if scalable { format!("[{size}]") } else { size.to_string() }
}

/// Returns why a broadcast to type `to` is invalid.
pub(super) fn broadcastable(ctx: &Context, from: Type, to: Type) -> Result<(), Violation> {
    let Some((sizes, flags, _)) = vector(ctx, from) else {
        return check(!ctx.is_shaped(from), || "source type is not a vector".into());
    };
    let (extents, to_flags) = (shape(ctx, to), scalable(ctx, to));
    let leading = extents.len().checked_sub(sizes.len());
    let leading = leading.ok_or("source rank higher than destination rank")?;
    for (i, (&size, &flag)) in sizes.iter().zip(flags).enumerate() {
        let (want, want_flag) = (extents[leading + i], to_flags[leading + i]);
        let fits = (size, flag) == (want, want_flag) || (size == 1 && !flag);
        check(fits, || format!("dimension mismatch ({} vs. {})", extent(size, flag), extent(want, want_flag)))?;
    }
    Ok(())
}

/// Of an op: its operands are the elements of its result, in row-major order.
pub(super) struct ListsElements;
impl Extension for ListsElements {}

fn verify_broadcast(m: &Module, op: Op) -> Result<(), Violation> {
    let this = BroadcastOp(op);
    let (source, result) = (this.source(m), this.vector(m));
    same_element(m, source, result, "source operand and result")?;
    broadcastable(&m.ctx, m.value_type(source), m.value_type(result))
}

fn verify_shape_cast(m: &Module, op: Op) -> Result<(), Violation> {
    let (this, ctx) = (ShapeCastOp(op), &m.ctx);
    let [from, to] = [this.source(m), this.result(m)].map(|v| m.value_type(v));
    check(ctx.element_type(from) == ctx.element_type(to), || "has different source and result element types".into())?;
    let (n, k) = (count(ctx, from), count(ctx, to));
    check(n == k, || format!("has different number of elements at source ({n}) and result ({k})"))?;
    let [n, k] = [from, to].map(|t| scalables(ctx, t));
    check(n == k, || format!("has different number of scalable dims at source ({n}) and result ({k})"))
}

/// Returns the bit width of an element; an index has the width of an address.
pub(super) fn width(ctx: &Context, ty: Type) -> i64 {
    let elem = ctx.element_type(ty);
    ctx.int_width(elem).or_else(|| ctx.float_kind(elem).map(FloatKind::width)).map_or(0, i64::from)
}

fn verify_bitcast(m: &Module, op: Op) -> Result<(), Violation> {
    let (this, ctx) = (BitCastOp(op), &m.ctx);
    let [from, to] = [this.source(m), this.result(m)].map(|v| m.value_type(v));
    let (a, b) = (shape(ctx, from), shape(ctx, to));
    check(a.len() == b.len(), || "failed to verify that all of {source, result} have same rank".into())?;
    let rows = a.len().saturating_sub(1);
    if let Some(i) = (0..rows).find(|&i| a[i] != b[i]) {
        return Err(format!("dimension size mismatch at: {i}").into());
    }
    let bits = |shape: &[i64], ty| width(ctx, ty).saturating_mul(shape.last().copied().unwrap_or(1));
    check(bits(a, from) == bits(b, to), || {
        let what = if a.is_empty() { "0-D vector element types" } else { "minor 1-D vectors" };
        format!("source/result bitwidth of the {what} must be equal")
    })
}

fn verify_transpose(m: &Module, op: Op) -> Result<(), Violation> {
    let (this, ctx) = (TransposeOp(op), &m.ctx);
    let (source, result) = (this.vector(m), this.result(m));
    same_element(m, source, result, "operand and result")?;
    let (from, to) = (shape(ctx, m.value_type(source)), shape(ctx, m.value_type(result)));
    check(from.len() == to.len(), || format!("vector result rank mismatch: {}", to.len()))?;
    let order = permutation(m, op);
    check(order.len() == from.len(), || format!("transposition length mismatch: {}", order.len()))?;
    let [is_scalable, becomes_scalable] = [source, result].map(|value| scalable(ctx, m.value_type(value)));
    let mut seen = vec![false; from.len()];
    for ((&dim, &extent), &becomes_scalable) in order.iter().zip(to).zip(becomes_scalable) {
        let at = usize::try_from(dim).ok().filter(|&i| i < from.len());
        let at = at.ok_or_else(|| format!("transposition index out of range: {dim}"))?;
        check(!std::mem::replace(&mut seen[at], true), || format!("duplicate position index: {dim}"))?;
        check(extent == from[at], || format!("dimension size mismatch at: {dim}"))?;
        check(becomes_scalable == is_scalable[at], || format!("dimension is scalable on one side only: {dim}"))?;
    }
    Ok(())
}

/// Returns the permutation of a `vector.transpose`.
fn permutation(m: &Module, op: Op) -> Vec<i64> {
    super::types::ints(m, op, "permutation")
}

fn broadcast(args: &OpArgs<'_>, data: &[Datum]) -> Result<Vec<Datum>, Trap> {
    let (ctx, ty) = (args.ctx(), args.result_types[0]);
    let extents = data::extents(ctx, ty)?;
    let Datum::Tensor(source) = &data[0] else {
        let all = vec![data[0].clone(); extents.iter().product()];
        return data::value_of(ctx, ty, &all).map(|v| vec![v]);
    };
    let leading = extents.len() - source.rank();
    let at = |index: Vec<usize>| {
        let own = index[leading..].iter().zip(source.shape()).map(|(&i, &d)| i.min(d - 1));
        data::linear_index(source.shape(), own)
    };
    data::pick(ctx, ty, source, data::indices(&extents).map(at)).map(|v| vec![v])
}

fn shape_cast(args: &OpArgs<'_>, data: &[Datum]) -> Result<Vec<Datum>, Trap> {
    let shape = data::extents(args.ctx(), args.result_types[0])?;
    Ok(vec![Datum::Tensor(data[0].tensor()?.reshape(shape)?)])
}

fn bitcast(args: &OpArgs<'_>, data: &[Datum]) -> Result<Vec<Datum>, Trap> {
    let (source, ty) = (data[0].tensor()?, args.result_types[0]);
    let (from, to) = (source.dtype(), data::dtype(args.ctx(), ty)?);
    let whole = |dtype: DType| dtype.bits().is_multiple_of(8);
    if from.bits() != to.bits() && !(whole(from) && whole(to)) {
        return Err(Trap::unsupported("bitcasts of elements that are not whole bytes"));
    }
    Ok(vec![Datum::bitcast(source, to, data::extents(args.ctx(), ty)?)?])
}

fn transpose(args: &OpArgs<'_>, data: &[Datum]) -> Result<Vec<Datum>, Trap> {
    let (source, ty) = (data[0].tensor()?, args.result_types[0]);
    let order = args.ints("permutation").unwrap_or_default();
    let order: Vec<usize> = order.iter().filter_map(|&d| usize::try_from(d).ok()).collect();
    let extents = data::extents(args.ctx(), ty)?;
    let mut own = vec![0; order.len()];
    let numbers = data::indices(&extents).map(|index| {
        order.iter().zip(index).for_each(|(&dim, i)| own[dim] = i);
        data::linear_index(source.shape(), own.iter().copied())
    });
    data::pick(args.ctx(), ty, source, numbers).map(|v| vec![v])
}

/// Replaces `op` by a broadcast of `source`.
pub(super) fn replace_by_broadcast(r: &mut Rewriter<'_>, op: Op, source: Value) -> bool {
    replace_by(r, op, BroadcastOp::INFO.name, source)
}

/// Replaces `op` by a shape cast of `source`.
pub(super) fn replace_by_shape_cast(r: &mut Rewriter<'_>, op: Op, source: Value) -> bool {
    replace_by(r, op, ShapeCastOp::INFO.name, source)
}

/// Returns the scalar that a value is a broadcast of.
pub(super) fn splat_of(m: &Module, value: Value) -> Option<Value> {
    let source = BroadcastOp::defining(m, value)?.source(m);
    (!m.ctx.is_shaped(m.value_type(source))).then_some(source)
}

/// Returns the scalar that both values are a broadcast of.
pub(super) fn same_splat(m: &Module, a: Value, b: Value) -> Option<Value> {
    let scalar = splat_of(m, a)?;
    (splat_of(m, b) == Some(scalar)).then_some(scalar)
}

/// Folds a shape change of a splat.
pub(super) fn fold_splat(args: &OpArgs<'_>, constants: &[Option<Attr>]) -> Option<Folded> {
    let (ctx, &ty) = (args.ctx(), args.result_types.first()?);
    match ctx.attr_data(constants[0]?) {
        AttrData::Dense(dense) if dense.splat => {
            Some(ctx.attr(AttrData::Dense(Box::new(Dense::new(ty, true, dense.data())))).into())
        }
        _ => None,
    }
}
