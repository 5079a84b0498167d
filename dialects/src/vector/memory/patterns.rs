//! Canonicalization of memory ops: uniform masks and memref casts.

use super::{LoadOp, StoreOp};
use crate::memref;
use crate::vector::access::{drop_access, known_mask, operand, operands, replace_effect};
use gradus_ir::{Module, Op, OpDecl, OpState, Pattern, PatternRewriter, Rewriter, Value};

const FOLD_CAST: Pattern = Pattern { name: "access through cast", run: |r, op| memref::fold_casts(r, op, None) };
const CONSTANT_MASK: Pattern = Pattern { name: "access under a known mask", run: under_known_mask };

pub(super) const WHOLE: &[Pattern] = &[FOLD_CAST];
pub(super) const MASKED: &[Pattern] = &[FOLD_CAST, CONSTANT_MASK];

/// Removes an access with an all-false mask, and unmasks one with an all-true mask.
fn under_known_mask(r: &mut Rewriter<'_>, op: Op) -> bool {
    known_mask(r.module(), op).is_some_and(|mask| if mask { unmasked(r, op) } else { drop_access(r, op) })
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
