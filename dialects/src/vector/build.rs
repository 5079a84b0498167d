//! Builders of vector ops for patterns.

use super::types::{scalable, shape};
use crate::views::Mixed;
use gradus_ir::{AttrData, Context, Dense, Module, Op, OpState, PatternRewriter, Rewriter, Type, Value};

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
pub(super) fn replace_by(r: &mut Rewriter<'_>, op: Op, name: &str, source: Value) -> bool {
    let m = r.module();
    let ty = m.value_type(m.result(op, 0));
    if m.value_type(source) == ty {
        r.replace(op, &[source]);
        return true;
    }
    let state = unary_state(m, op, name, source, ty);
    r.replace_with(op, state).is_ok()
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

/// Replaces `op` by an all-false or all-true mask.
pub(super) fn replace_by_uniform(r: &mut Rewriter<'_>, op: Op, truth: bool) -> bool {
    let m = r.module();
    let ty = m.value_type(m.result(op, 0));
    let value = match m.ctx.is_shaped(ty) {
        true => m.ctx.attr(AttrData::Dense(Box::new(Dense::new(ty, true, vec![u8::from(truth)])))),
        false => m.ctx.bool_attr(truth),
    };
    replace_by_constant(r, op, value)
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
