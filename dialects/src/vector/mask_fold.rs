//! Canonicalization of masks: constant bounds, uniform masks, and empty regions.

use super::element_patterns::replace_by_uniform;
use super::mask::{is_empty, truth};
use super::types::{scalable, shape};
use super::{ConstantMaskOp, MaskOp, VectorScaleOp};
use crate::arith::{MulIOp, SelectOp};
use gradus_ir::{Module, Op, OpDecl, OpState, Pattern, PatternRewriter, Rewriter, Value};

pub(super) const CREATE: &[Pattern] = &[Pattern { name: "constant bounds", run: constant_bounds }];

pub(super) const MASKED: &[Pattern] =
    &[Pattern { name: "nothing to mask", run: nothing_to_mask }, Pattern { name: "mask that is true", run: true_mask }];

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
