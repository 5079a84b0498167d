//! Canonicalization of masks: bounds that are known, masks that are true everywhere, and nothing to mask.

use super::element_patterns::replace_by_uniform;
use super::mask::{is_empty, truth};
use super::types::{is_scalable, shape};
use super::{ConstantMaskOp, MaskOp};
use crate::arith::SelectOp;
use gradus_ir::{Op, OpDecl, OpState, Pattern, Rewriter, Value};

pub(super) const CREATE: &[Pattern] = &[Pattern { name: "constant bounds", run: constant_bounds }];

pub(super) const MASKED: &[Pattern] =
    &[Pattern { name: "nothing to mask", run: nothing_to_mask }, Pattern { name: "mask that is true", run: true_mask }];

/// With constant bounds it is a constant mask; one that is true, or false, everywhere is a constant.
fn constant_bounds(r: &mut Rewriter<'_>, op: Op) -> bool {
    let m = r.module();
    let ty = m.value_type(m.result(op, 0));
    let bounds: Option<Vec<i64>> = m.operands(op).iter().map(|&v| m.constant_int(v)).collect();
    let (Some(bounds), extents) = (bounds, shape(&m.ctx, ty)) else { return false };
    if is_scalable(&m.ctx, ty) {
        return false;
    }
    if bounds.iter().any(|&n| n <= 0) {
        return replace_by_uniform(r, op, false);
    }
    if bounds.iter().zip(extents).all(|(n, d)| n >= d) {
        return replace_by_uniform(r, op, true);
    }
    let sizes: Vec<i64> = bounds.iter().zip(extents).map(|(&n, &d)| n.min(d)).collect();
    let mut state = OpState::new(&m.ctx, ConstantMaskOp::INFO.name, m.loc(op));
    state.inherent(&m.ctx, "mask_dim_sizes", Some(m.ctx.i64_array_attr(&sizes)));
    state.result_types.push(ty);
    r.replace_with(op, state).is_ok()
}

fn yielded(r: &Rewriter<'_>, op: Op) -> Vec<Value> {
    let m = r.module();
    let end = m.entry(MaskOp(op).mask_region(m)).and_then(|b| m.last_op(b));
    end.map_or(Vec::new(), |end| m.operands(end).to_vec())
}

/// Without an op there are the values; what is passed through is chosen by the mask.
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

/// Under a mask that is true everywhere an op does what it does without.
fn true_mask(r: &mut Rewriter<'_>, op: Op) -> bool {
    let m = r.module();
    if truth(m, MaskOp(op).mask(m)) != Some(true) || is_empty(m, op) {
        return false;
    }
    let region = MaskOp(op).mask_region(m);
    r.replace_with_region(op, region, &[]);
    true
}
