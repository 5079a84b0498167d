//! Canonicalization of memory ops: uniform masks, contiguous offsets, and memref casts.

use super::StepOp;
use super::gather::{GatherOp, ScatterOp};
use super::mask::{is_masked, truth};
use super::memory::{LoadOp, MaskedLoadOp, MaskedStoreOp, StoreOp};
use super::types::shape;
use crate::memref;
use gradus_ir::{Module, Op, OpDecl, OpState, Pattern, PatternRewriter, Rewriter, TypeData, Value};

const FOLD_CAST: Pattern = Pattern { name: "access through cast", run: |r, op| memref::fold_casts(r, op, None) };
const CONSTANT_MASK: Pattern = Pattern { name: "access under a known mask", run: known_mask };

pub(super) const LOAD: &[Pattern] = &[FOLD_CAST];
pub(super) const STORE: &[Pattern] = &[FOLD_CAST];
pub(super) const MASKED_LOAD: &[Pattern] = &[FOLD_CAST, CONSTANT_MASK];
pub(super) const MASKED_STORE: &[Pattern] = &[FOLD_CAST, CONSTANT_MASK];
pub(super) const EXPAND: &[Pattern] = &[FOLD_CAST, CONSTANT_MASK];
pub(super) const COMPRESS: &[Pattern] = &[FOLD_CAST, CONSTANT_MASK];
pub(super) const GATHER: &[Pattern] =
    &[CONSTANT_MASK, Pattern { name: "gather of a row", run: |r, op| row(r, op, MaskedLoadOp::INFO.name) }];
pub(super) const SCATTER: &[Pattern] =
    &[CONSTANT_MASK, Pattern { name: "scatter to a row", run: |r, op| row(r, op, MaskedStoreOp::INFO.name) }];

/// Returns the operand `name`.
fn operand(m: &Module, op: Op, name: &str) -> Option<Value> {
    m.with_args(op, |args| args.opt_operand(name)).flatten()
}

/// Returns the operand group `name`.
fn operands(m: &Module, op: Op, name: &str) -> Vec<Value> {
    m.with_args(op, |args| args.operand(name).to_vec()).unwrap_or_default()
}

/// Removes an access with an all-false mask, and unmasks a contiguous access with an all-true mask.
fn known_mask(r: &mut Rewriter<'_>, op: Op) -> bool {
    let m = r.module();
    if is_masked(m, op) {
        return false;
    }
    let Some(truth) = operand(m, op, "mask").and_then(|mask| truth(m, mask)) else { return false };
    if truth {
        return !is_spread(m, op) && unmasked(r, op);
    }
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

/// Whether the op accesses individual addresses.
fn is_spread(m: &Module, op: Op) -> bool {
    GatherOp::cast(m, op).is_some() || ScatterOp::cast(m, op).is_some()
}

fn unmasked(r: &mut Rewriter<'_>, op: Op) -> bool {
    let m = r.module();
    let Some(base) = operand(m, op, "base") else { return false };
    let stored = operand(m, op, "valueToStore");
    let name = if stored.is_some() { StoreOp::INFO.name } else { LoadOp::INFO.name };
    let mut state = OpState::new(&m.ctx, name, m.loc(op));
    state.inherent(&m.ctx, "alignment", m.inherent_attr(op, "alignment"));
    state.operands.extend(stored);
    state.operands.push(base);
    state.operands.extend(operands(m, op, "indices"));
    state.result_types.extend(m.results(op).map(|v| m.value_type(v)));
    let fits = unit_stride(m, op, base);
    fits && if stored.is_some() { replace_effect(r, op, state) } else { r.replace_with(op, state).is_ok() }
}

/// Whether the innermost stride is one, as unmasked ops require.
fn unit_stride(m: &Module, op: Op, base: Value) -> bool {
    let layout = m.ctx.strided_layout(m.value_type(base));
    let value = operand(m, op, "valueToStore").or_else(|| m.results(op).next());
    let rank = |v: Value| m.ctx.shape(m.value_type(v)).map_or(0, <[i64]>::len);
    layout.is_some_and(|l| l.strides.last().is_none_or(|&s| s == 1)) && value.is_some_and(|v| rank(v) <= rank(base))
}

/// Replaces an op without results by the op that `state` describes.
fn replace_effect(r: &mut Rewriter<'_>, op: Op, state: OpState) -> bool {
    let made = r.create_before(op, state).is_ok();
    if made {
        r.erase(op);
    }
    made
}

/// Whether the offsets are 0, 1, 2, ...
fn in_a_row(m: &Module, distances: Value) -> bool {
    if shape(&m.ctx, m.value_type(distances)).len() != 1 {
        return false;
    }
    if StepOp::defining(m, distances).is_some() {
        return true;
    }
    let constant = m.constant(distances).and_then(|c| m.ctx.dense_tensor(c)).and_then(|t| t.to_i64());
    constant.is_some_and(|list| list.iter().zip(0..).all(|(&n, want)| n == want))
}

/// Replaces accesses at consecutive offsets by a contiguous access.
fn row(r: &mut Rewriter<'_>, op: Op, name: &str) -> bool {
    let m = r.module();
    if is_masked(m, op) {
        return false;
    }
    let (Some(base), Some(distances)) = (operand(m, op, "base"), operand(m, op, "indices")) else { return false };
    let memory = matches!(m.ctx.type_data(m.value_type(base)), TypeData::MemRef { .. });
    if !memory || !in_a_row(m, distances) {
        return false;
    }
    let mut state = OpState::new(&m.ctx, name, m.loc(op));
    state.inherent(&m.ctx, "alignment", m.inherent_attr(op, "alignment"));
    state.operands.push(base);
    state.operands.extend(operands(m, op, "offsets"));
    state.operands.extend(operand(m, op, "mask"));
    state.operands.extend(operand(m, op, "pass_thru").or_else(|| operand(m, op, "valueToStore")));
    if name == MaskedStoreOp::INFO.name {
        return m.num_results(op) == 0 && replace_effect(r, op, state);
    }
    state.result_types.extend(m.results(op).map(|v| m.value_type(v)));
    r.replace_with(op, state).is_ok()
}
