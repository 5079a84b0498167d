//! Builders of vector ops for patterns.

use super::types::{scalable, shape, without_leading};
use super::{BroadcastOp, ExtractOp, ShapeCastOp};
use crate::views::{Mixed, add_mixed};
use gradus_ir::{Context, Module, Op, OpDecl, OpState, PatternRewriter, Rewriter, Type, Value};

/// Creates a unary op before `op` and returns its result.
pub(super) fn unary(r: &mut Rewriter<'_>, op: Op, name: &str, source: Value, ty: Type) -> Option<Value> {
    let state = unary_state(r.module(), op, name, source, ty);
    let new = r.create_before(op, state).ok()?;
    Some(r.module().result(new, 0))
}

fn unary_state(m: &Module, op: Op, name: &str, source: Value, ty: Type) -> OpState {
    let mut state = OpState::new(&m.ctx, name, m.loc(op));
    state.operand_group(&[source]);
    state.result_types.push(ty);
    state
}

/// Replaces `op` by a unary op `name` with a result of the same type, or by the operand if it has that type.
fn replace_by(r: &mut Rewriter<'_>, op: Op, name: &str, source: Value) -> bool {
    let m = r.module();
    let ty = m.value_type(m.result(op, 0));
    if m.value_type(source) == ty {
        r.replace(op, &[source]);
        return true;
    }
    let state = unary_state(m, op, name, source, ty);
    r.replace_with(op, state).is_ok()
}

/// Replaces `op` by a broadcast of `source`.
pub(super) fn replace_by_broadcast(r: &mut Rewriter<'_>, op: Op, source: Value) -> bool {
    replace_by(r, op, BroadcastOp::INFO.name, source)
}

/// Replaces `op` by a shape cast of `source`.
pub(super) fn replace_by_shape_cast(r: &mut Rewriter<'_>, op: Op, source: Value) -> bool {
    replace_by(r, op, ShapeCastOp::INFO.name, source)
}

/// Replaces `op` by the sub-vector of `source` at static positions, if the types agree.
pub(super) fn replace_by_extract(r: &mut Rewriter<'_>, op: Op, source: Value, at: &[Mixed]) -> bool {
    let m = r.module();
    let (from, ty) = (m.value_type(source), m.value_type(m.result(op, 0)));
    if from == ty && at.is_empty() {
        r.replace(op, &[source]);
        return true;
    }
    let fits = without_leading(&m.ctx, from, at.len()) == ty && shape(&m.ctx, from).len() >= at.len();
    fits && r.replace_with(op, extract_state(r.module(), op, source, at)).is_ok()
}

/// Creates an extract of `source` at static positions before `op`.
pub(super) fn extract(r: &mut Rewriter<'_>, op: Op, source: Value, at: &[Mixed]) -> Option<Value> {
    let state = extract_state(r.module(), op, source, at);
    let new = r.create_before(op, state).ok()?;
    Some(r.module().result(new, 0))
}

fn extract_state(m: &Module, op: Op, source: Value, at: &[Mixed]) -> OpState {
    let mut state = OpState::new(&m.ctx, ExtractOp::INFO.name, m.loc(op));
    state.operand_group(&[source]);
    add_mixed(&m.ctx, &mut state, "static_position", at);
    state.result_types.push(without_leading(&m.ctx, m.value_type(source), at.len()));
    state
}

/// Replaces `op`, which has one result, by poison.
pub(super) fn replace_by_poison(r: &mut Rewriter<'_>, op: Op) -> bool {
    let poison = r.module().ctx.poison_attr();
    replace_by_constant(r, op, poison)
}

/// Replaces `op`, which has one result, by a constant.
pub(super) fn replace_by_constant(r: &mut Rewriter<'_>, op: Op, value: gradus_ir::Attr) -> bool {
    let ty = r.module().value_type(r.module().result(op, 0));
    let Some(value) = r.constant(op, value, ty) else { return false };
    r.replace(op, &[value]);
    true
}

/// Converts static positions.
pub(super) fn numbers(at: &[i64]) -> Vec<Mixed> {
    at.iter().map(|&n| Mixed::Static(n)).collect()
}

/// Returns the linear index of the first element at a position in the leading dimensions.
pub(super) fn linear(extents: &[i64], at: &[i64]) -> i64 {
    extents
        .iter()
        .enumerate()
        .fold(0i64, |n, (i, &d)| n.saturating_mul(d).saturating_add(at.get(i).copied().unwrap_or(0)))
}

/// Returns the position of linear index `n` in these dimensions.
pub(super) fn delinearize(extents: &[i64], mut n: i64) -> Vec<i64> {
    let mut at = vec![0; extents.len()];
    for (i, &d) in at.iter_mut().zip(extents).rev() {
        *i = n % d;
        n /= d;
    }
    at
}

/// Whether `outer` is `inner` with additional leading dimensions.
pub(super) fn ends_with(ctx: &Context, outer: Type, inner: Type) -> bool {
    shape(ctx, outer).ends_with(shape(ctx, inner)) && scalable(ctx, outer).ends_with(scalable(ctx, inner))
}

/// Returns the scalar that a value is a broadcast of.
pub(super) fn splat_of(m: &Module, value: Value) -> Option<Value> {
    let source = BroadcastOp::defining(m, value)?.source(m);
    (!m.ctx.is_shaped(m.value_type(source))).then_some(source)
}
