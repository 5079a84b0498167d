//! Parts that all ops share that access memory: operands, verifiers, known masks.

use super::create_mask::truth;
use super::masking::is_masked;
use super::types::check;
use gradus_ir::{Module, Op, OpState, PatternRewriter, Rewriter, Type, Value, ValueList, Violation};

/// Verifies an access of elements of the vector `value` to `base`.
pub(super) fn access(m: &Module, base: Value, value: Value, indices: &ValueList, what: &str) -> Result<(), Violation> {
    let elem = |v: Value| m.ctx.element_type(m.value_type(v));
    check(elem(base) == elem(value), || format!("base and {what} element type should match"))?;
    rank(m, base, indices)
}

/// Verifies the number of indices.
pub(super) fn rank(m: &Module, base: Value, indices: &ValueList) -> Result<(), Violation> {
    let rank = m.ctx.shape(m.value_type(base)).map_or(0, <[i64]>::len);
    check(indices.len() == rank, || format!("requires {rank} indices"))
}

/// Verifies that two vectors have the same shape.
pub(super) fn same_shape(m: &Module, a: Value, b: Value, message: &str) -> Result<(), Violation> {
    let [a, b] = [a, b].map(|v| m.ctx.with_element(m.value_type(v), Type::I1));
    check(a == b, || message.to_owned())
}

/// Verifies that two values have the same type.
pub(super) fn same_type(m: &Module, a: Value, b: Value, message: &str) -> Result<(), Violation> {
    check(m.value_type(a) == m.value_type(b), || message.to_owned())
}

/// Error for a wrong pass-through type.
pub(super) const PASS_THRU: &str = "expected pass_thru of same type as result type";

/// Returns the operand `name`.
pub(super) fn operand(m: &Module, op: Op, name: &str) -> Option<Value> {
    m.with_args(op, |args| args.opt_operand(name)).flatten()
}

/// Returns the operand group `name`.
pub(super) fn operands(m: &Module, op: Op, name: &str) -> Vec<Value> {
    m.with_args(op, |args| args.operand(name).to_vec()).unwrap_or_default()
}

/// Returns the value of the uniform mask of an access; `None` under a further mask.
pub(super) fn known_mask(m: &Module, op: Op) -> Option<bool> {
    operand(m, op, "mask").filter(|_| !is_masked(m, op)).and_then(|mask| truth(m, mask))
}

/// Removes an access whose mask is false.
pub(super) fn drop_access(r: &mut Rewriter<'_>, op: Op) -> bool {
    let m = r.module();
    match operand(m, op, "pass_thru") {
        Some(value) => r.replace(op, &[value]),
        None if m.num_results(op) == 0 => r.erase(op),
        None => {
            let Some(base) = operand(m, op, "base").filter(|&b| m.value_type(b) == m.value_type(m.result(op, 0)))
            else {
                return false;
            };
            r.replace(op, &[base]);
        }
    }
    true
}

/// Replaces an op without results by the op that `state` describes.
pub(super) fn replace_effect(r: &mut Rewriter<'_>, op: Op, state: OpState) -> bool {
    let made = r.create_before(op, state).is_ok();
    if made {
        r.erase(op);
    }
    made
}
