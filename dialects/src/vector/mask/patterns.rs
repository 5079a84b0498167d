//! Canonicalization of `mask`: uniform masks, and empty regions.

use super::{MaskOp, is_empty};
use crate::arith::SelectOp;
use crate::vector::create_mask::truth;
use gradus_ir::{Op, OpDecl, OpState, Pattern, PatternRewriter, Rewriter, Value};

pub(super) const MASKED: &[Pattern] =
    &[Pattern { name: "nothing to mask", run: nothing_to_mask }, Pattern { name: "mask that is true", run: true_mask }];

fn yielded(r: &Rewriter<'_>, op: Op) -> Vec<Value> {
    let m = r.module();
    let end = m.entry(MaskOp(op).mask_region(m)).and_then(|b| m.last_op(b));
    end.map_or(Vec::new(), |end| m.operands(end).to_vec())
}

/// Replaces a mask without op by the yielded values or a select.
fn nothing_to_mask(r: &mut Rewriter<'_>, op: Op) -> bool {
    if !is_empty(r.module(), op) {
        return false;
    }
    let (m, values) = (r.module(), yielded(r, op));
    let Some(passthru) = MaskOp(op).passthru(m) else {
        r.replace(op, &values);
        return true;
    };
    let [value] = values[..] else { return false };
    let mut state = OpState::new(&m.ctx, SelectOp::INFO.name, m.loc(op));
    state.operands.extend([MaskOp(op).mask(m), value, passthru]);
    state.result_types.push(m.value_type(value));
    m.ctx.is_shaped(m.value_type(value)) && r.replace_with(op, state).is_ok()
}

/// Removes an all-true mask.
fn true_mask(r: &mut Rewriter<'_>, op: Op) -> bool {
    let m = r.module();
    if truth(m, MaskOp(op).mask(m)) != Some(true) || is_empty(m, op) {
        return false;
    }
    let region = MaskOp(op).mask_region(m);
    r.replace_with_region(op, region, &[]);
    true
}
