//! Canonicalization of reductions of single elements.

use super::{MultiDimReductionOp, ReductionOp, is_supported, kind_of};
use crate::vector::build::{numbers, unary};
use crate::vector::data::combining_op;
use crate::vector::element::{create_extract, replace_by_extract};
use crate::vector::masking::is_masked;
use crate::vector::reshape::ShapeCastOp;
use crate::vector::types::{ints, is_scalable, shape};
use gradus_ir::{Module, Op, OpDecl, OpInfo, OpState, Pattern, PatternRewriter, Rewriter, Type, Value};

pub(super) const REDUCTION: &[Pattern] = &[Pattern { name: "reduction of one element", run: of_one_element }];
pub(super) const MULTI_REDUCTION: &[Pattern] = &[Pattern { name: "reduction of unit dimensions", run: of_unit_dims }];

/// Returns the op that combines elements of a type by a kind; `None` for a float kind of integers, which a
/// multi-dimensional reduction may have.
fn combining(m: &Module, op: Op, ty: Type) -> Option<&'static OpInfo> {
    let elem = m.ctx.element_type(ty);
    let float = m.ctx.float_kind(elem).is_some();
    if !is_supported(&m.ctx, &kind_of(m, op), elem) {
        return None;
    }
    match kind_of(m, op).as_str() {
        kind @ ("add" | "mul") if float => combining_op(&format!("{kind}f")),
        kind => combining_op(kind),
    }
}

/// Replaces `op` by the combination of two values.
fn replace_by_combined(r: &mut Rewriter<'_>, op: Op, values: [Value; 2]) -> bool {
    let m = r.module();
    let ty = m.value_type(m.result(op, 0));
    let Some(info) = combining(m, op, ty) else { return false };
    let mut state = OpState::new(&m.ctx, info.name, m.loc(op));
    state.operands.extend(values);
    if m.ctx.float_kind(m.ctx.element_type(ty)).is_some() {
        state.inherent(&m.ctx, "fastmath", m.inherent_attr(op, "fastmath"));
    }
    state.result_types.push(ty);
    r.replace_with(op, state).is_ok()
}

fn of_one_element(r: &mut Rewriter<'_>, op: Op) -> bool {
    let m = r.module();
    if is_masked(m, op) {
        return false;
    }
    let this = ReductionOp(op);
    let (source, acc) = (this.vector(m), this.acc(m));
    let ty = m.value_type(source);
    if !matches!(shape(&m.ctx, ty), [] | [1]) || is_scalable(&m.ctx, ty) {
        return false;
    }
    let at = numbers(&vec![0; shape(&m.ctx, ty).len()]);
    let Some(acc) = acc else { return replace_by_extract(r, op, source, &at) };
    let Some(element) = create_extract(r, op, source, &at) else { return false };
    replace_by_combined(r, op, [element, acc])
}

fn of_unit_dims(r: &mut Rewriter<'_>, op: Op) -> bool {
    let m = r.module();
    if is_masked(m, op) {
        return false;
    }
    let this = MultiDimReductionOp(op);
    let (source, acc) = (this.source(m), this.acc(m));
    let (from, ty) = (m.value_type(source), m.value_type(this.dest(m)));
    let (extents, dims) = (shape(&m.ctx, from), ints(m, op, "reduction_dims"));
    let unit = |&d: &i64| usize::try_from(d).ok().and_then(|d| extents.get(d)) == Some(&1);
    // If the row has as many elements as the vector, no part is scalable.
    if is_scalable(&m.ctx, from) || !dims.iter().all(unit) || combining(m, op, ty).is_none() {
        return false;
    }
    let at = numbers(&vec![0; extents.len()]);
    let part = if m.ctx.is_shaped(ty) {
        if from == ty { Some(source) } else { unary(r, op, ShapeCastOp::INFO.name, source, ty) }
    } else {
        create_extract(r, op, source, &at)
    };
    part.is_some_and(|part| replace_by_combined(r, op, [acc, part]))
}
