//! `tensor.cast` and `tensor.bitcast`.

use super::types::{NUMBER_TENSOR, castable, join, keeps_extents, shape};
use super::{data, names};
use crate::constraint::TENSOR;
use crate::views::{Mixed, Slice, dropped_dims};
use gradus_ir::eval::{Datum, Trap};
use gradus_ir::float::FloatKind;
use gradus_ir::{
    Attr, Context, DYNAMIC, Folded, Module, Op, OpArgs, OpDecl, OpState, Pattern, PatternRewriter, Rewriter, Traits,
    Type, Value, Violation, op,
};

/// Casts a tensor to a type with more or less static extents. Static extents that do not match at run time are
/// undefined behavior.
///
/// ```mlir
/// %0 = tensor.cast %a : tensor<4x?xf32> to tensor<?x8xf32>
/// ```
#[op(
    "tensor.cast",
    effects = gradus_ir::Effects::MayUb,
    verify = verify_cast,
    fold = fold_same_type,
    eval = cast,
    moves = &["source"],
    patterns = &[CHAINED_CASTS, CAST_OF_SLICE, super::create::CAST_OF_EMPTY],
    result_names = |_, _| names("cast"),
    format = "$source attr-dict `:` type($source) `to` type($dest)"
)]
pub struct CastOp {
    /// Cast tensor.
    source: Operand<TENSOR>,
    /// Cast tensor.
    dest: OpResult<TENSOR>,
}

/// Reinterprets the elements as another type of the same width.
///
/// ```mlir
/// %0 = tensor.bitcast %a : tensor<4xui32> to tensor<4xi32>
/// ```
#[op(
    "tensor.bitcast",
    effects = gradus_ir::Effects::MayUb,
    speculatable = |m, op| m.ctx.static_shape(m.value_type(BitcastOp(op).source(m))).is_some(),
    verify = verify_bitcast,
    fold = fold_same_type,
    eval = bitcast,
    moves = &["source"],
    patterns = &[CHAINED_BITCASTS],
    format = "$source attr-dict `:` type($source) `to` type($dest)"
)]
pub struct BitcastOp {
    /// Reinterpreted tensor.
    source: Operand<NUMBER_TENSOR>,
    /// Reinterpreted tensor.
    dest: OpResult<NUMBER_TENSOR>,
}

/// Merges two casts, unless the intermediate type has more static extents than the others, which might not match.
const CHAINED_CASTS: Pattern = Pattern { name: "chained casts", run: chained_casts };

/// Propagates the static extents of a cast into its slice.
const CAST_OF_SLICE: Pattern = Pattern { name: "cast of slice", run: cast_of_slice };

const CHAINED_BITCASTS: Pattern = Pattern { name: "chained bitcasts", run: chained_bitcasts };

fn types_of(m: &Module, op: Op) -> (Type, Type) {
    (m.value_type(m.operands(op)[0]), m.value_type(m.result(op, 0)))
}

fn verify_types(m: &Module, op: Op, compatible: fn(&Context, Type, Type) -> bool) -> Result<(), Violation> {
    let (from, to) = types_of(m, op);
    if compatible(&m.ctx, from, to) {
        return Ok(());
    }
    let (from, to) = (m.ctx.display_type(from), m.ctx.display_type(to));
    Err(format!("operand type '{from}' and result type '{to}' are cast incompatible").into())
}

fn verify_cast(m: &Module, op: Op) -> Result<(), Violation> {
    verify_types(m, op, castable)
}

fn verify_bitcast(m: &Module, op: Op) -> Result<(), Violation> {
    verify_types(m, op, |ctx, from, to| {
        let width = |ty| {
            let elem = ctx.element_type(ty);
            ctx.int_width(elem).or_else(|| ctx.float_kind(elem).map(FloatKind::width))
        };
        width(from) == width(to) && castable(ctx, ctx.with_element(from, ctx.element_type(to)), to)
    })
}

fn fold_same_type(args: &OpArgs<'_>, _: &[Option<Attr>]) -> Option<Folded> {
    (args.result_types == [args.operand_type(0)]).then(|| args.operands[0].into())
}

fn chained_casts(r: &mut Rewriter<'_>, op: Op) -> bool {
    let m = r.module();
    let (between, to) = types_of(m, op);
    let Some(first) = CastOp::defining(m, m.operands(op)[0]) else { return false };
    let source = first.source(m);
    let from = m.value_type(source);
    let all = join(&m.ctx, from, between).and_then(|ty| join(&m.ctx, ty, to));
    if all.is_none() || all != join(&m.ctx, from, to) {
        return false;
    }
    replace_by_cast(r, op, CastOp::INFO.name, source)
}

fn chained_bitcasts(r: &mut Rewriter<'_>, op: Op) -> bool {
    let m = r.module();
    let Some(first) = BitcastOp::defining(m, m.operands(op)[0]) else { return false };
    let source = first.source(m);
    replace_by_cast(r, op, BitcastOp::INFO.name, source)
}

/// Replaces `op` by a cast of `source` to the same type.
fn replace_by_cast(r: &mut Rewriter<'_>, op: Op, name: &str, source: Value) -> bool {
    let m = r.module();
    let ty = m.value_type(m.result(op, 0));
    let mut state = OpState::new(&m.ctx, name, m.loc(op));
    state.operand_group(&[source]);
    state.result_types.push(ty);
    r.replace_with(op, state).is_ok()
}

/// Returns the source of a cast that only loses static extents, which its users can use instead.
pub fn before_cast(m: &Module, value: Value) -> Option<Value> {
    let source = CastOp::defining(m, value)?.source(m);
    keeps_extents(&m.ctx, m.value_type(value), m.value_type(source)).then_some(source)
}

/// Returns `value` with the type `ty`, by a cast before `op` if necessary.
pub(super) fn cast_before(r: &mut Rewriter<'_>, op: Op, value: Value, ty: Type) -> Option<Value> {
    let m = r.module();
    if m.value_type(value) == ty {
        return Some(value);
    }
    let mut state = OpState::new(&m.ctx, CastOp::INFO.name, m.loc(op));
    state.operand_group(&[value]);
    state.result_types.push(ty);
    // Insertion ops are in terminators, where other ops are not allowed.
    let at = if m.has_trait(op, Traits::COMBINING) { m.parent_op(op)? } else { op };
    let cast = r.create_before(at, state).ok()?;
    Some(r.module().result(cast, 0))
}

/// Replaces `op` by a new op with a more specific result type, cast back to the old type.
pub(super) fn replace_and_cast(r: &mut Rewriter<'_>, op: Op, state: OpState) -> bool {
    let ty = r.module().value_type(r.module().result(op, 0));
    let Ok(new) = r.create_before(op, state) else { return false };
    let value = r.module().result(new, 0);
    let Some(value) = cast_before(r, op, value, ty) else { return false };
    r.replace(op, &[value]);
    true
}

fn cast_of_slice(r: &mut Rewriter<'_>, op: Op) -> bool {
    let m = r.module();
    let (between, to) = types_of(m, op);
    let Some(slice) = super::ExtractSliceOp::defining(m, m.operands(op)[0]) else { return false };
    let (known, want) = (shape(&m.ctx, between), shape(&m.ctx, to));
    if known == want || !keeps_extents(&m.ctx, between, to) {
        return false;
    }
    let Some(mut lists) = m.args(slice.0).map(|args| Slice::of(&args)) else { return false };
    let Some(dropped) = dropped_dims(&lists.statics()[1], known) else { return false };
    let kept = lists.sizes.iter_mut().zip(dropped).filter(|(_, dropped)| !dropped);
    for ((size, _), &dim) in kept.zip(want) {
        if dim != DYNAMIC {
            *size = Mixed::Static(dim);
        }
    }
    let source = slice.source(m);
    // In unreachable code the sizes may exceed the static extents, which the verifier would reject.
    if lists.verify_in_bounds(shape(&m.ctx, m.value_type(source))).is_err() {
        return false;
    }
    let mut state = OpState::new(&m.ctx, super::ExtractSliceOp::INFO.name, m.loc(op));
    state.operand_group(&[source]);
    lists.add_to(&m.ctx, &mut state);
    state.result_types.push(to);
    r.replace_with(op, state).is_ok()
}

fn cast(_: &OpArgs<'_>, data: &[Datum]) -> Result<Vec<Datum>, Trap> {
    Ok(vec![Datum::Tensor(data[0].tensor()?.clone())])
}

fn bitcast(args: &OpArgs<'_>, data: &[Datum]) -> Result<Vec<Datum>, Trap> {
    let (tensor, to) = (data[0].tensor()?, args.result_types[0]);
    let dtype = data::dtype(args.ctx(), to)?;
    let is_of_type = data::has_type(args.ctx(), to, tensor.shape());
    Ok(vec![if is_of_type { Datum::bitcast(tensor, dtype, tensor.shape().to_vec())? } else { Datum::Poison }])
}
