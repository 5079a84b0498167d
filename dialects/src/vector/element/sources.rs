//! Canonicalization of `extract` from slices, elements, shuffles, and masks.

use super::{replace_by_extract, source_and_positions, static_positions};
use crate::vector::build::{self, numbers, replace_by_poison, replace_by_uniform};
use crate::vector::types::{count, ints, shape};
use crate::vector::{CreateMaskOp, ExtractStridedSliceOp, FromElementsOp, InsertStridedSliceOp, ShuffleOp};
use crate::views::Mixed;
use gradus_ir::{Op, OpDecl, OpState, PatternRewriter, Rewriter, Value};

pub(super) fn of_slice(r: &mut Rewriter<'_>, op: Op) -> bool {
    let m = r.module();
    let Some((slice, _)) = source_and_positions::<ExtractStridedSliceOp>(m, op) else { return false };
    let Some(mut at) = static_positions(m, op) else { return false };
    let (offsets, sizes) = (ints(m, slice.0, "offsets"), ints(m, slice.0, "sizes"));
    let extents = shape(&m.ctx, m.value_type(slice.source(m)));
    let whole = |i: usize| offsets[i] == 0 && sizes[i] == extents[i];
    if !(at.len()..offsets.len()).all(whole) {
        return false;
    }
    at.iter_mut().zip(offsets).for_each(|(n, offset)| *n += offset);
    let source = slice.source(m);
    replace_by_extract(r, op, source, &numbers(&at))
}

pub(super) fn of_inserted_slice(r: &mut Rewriter<'_>, op: Op) -> bool {
    let m = r.module();
    let Some((insert, _)) = source_and_positions::<InsertStridedSliceOp>(m, op) else { return false };
    let Some(at) = static_positions(m, op) else { return false };
    let (part, dest) = (insert.value_to_store(m), insert.dest(m));
    let offsets = ints(m, insert.0, "offsets");
    let (sizes, extents) = (shape(&m.ctx, m.value_type(part)), shape(&m.ctx, m.value_type(dest)));
    let leading = extents.len() - sizes.len();
    let size = |i: usize| if i < leading { 1 } else { sizes[i - leading] };
    let outside = |(i, &n): (usize, &i64)| !(offsets[i]..offsets[i] + size(i)).contains(&n);
    if at.iter().enumerate().any(outside) {
        return replace_by_extract(r, op, dest, &numbers(&at));
    }
    if at.len() < leading || !(at.len()..extents.len()).all(|i| offsets[i] == 0 && size(i) == extents[i]) {
        return false;
    }
    let own: Vec<i64> = at.iter().zip(offsets).skip(leading).map(|(n, offset)| n - offset).collect();
    replace_by_extract(r, op, part, &numbers(&own))
}

pub(super) fn of_elements(r: &mut Rewriter<'_>, op: Op) -> bool {
    let m = r.module();
    let Some((from, _)) = source_and_positions::<FromElementsOp>(m, op) else { return false };
    let Some(at) = static_positions(m, op) else { return false };
    let (whole, ty) = (m.value_type(from.dest(m)), m.value_type(m.result(op, 0)));
    let start = build::linear(shape(&m.ctx, whole), &at) as usize;
    let len = count(&m.ctx, ty) as usize;
    let elements: Vec<Value> = from.elements(m)[start..start + len].to_vec();
    if !m.ctx.is_shaped(ty) {
        r.replace(op, &elements);
        return true;
    }
    let mut state = OpState::new(&m.ctx, FromElementsOp::INFO.name, m.loc(op));
    state.operand_group(&elements);
    state.result_types.push(ty);
    r.replace_with(op, state).is_ok()
}

pub(super) fn of_shuffle(r: &mut Rewriter<'_>, op: Op) -> bool {
    let m = r.module();
    let Some((shuffle, _)) = source_and_positions::<ShuffleOp>(m, op) else { return false };
    let Some(mut at) = static_positions(m, op).filter(|at| !at.is_empty()) else { return false };
    let mask = ints(m, shuffle.0, "mask");
    let first = shape(&m.ctx, m.value_type(shuffle.v1(m)));
    let rows = first.first().copied().unwrap_or(1);
    let scalars = first.is_empty();
    let row = mask[at[0] as usize];
    if row < 0 {
        return replace_by_poison(r, op);
    }
    let source = if row < rows { shuffle.v1(m) } else { shuffle.v2(m) };
    at[0] = if row < rows { row } else { row - rows };
    replace_by_extract(r, op, source, &numbers(if scalars { &[] } else { &at }))
}

/// Replaces a row of a mask by a mask, if it is known whether the row is in bounds.
pub(super) fn of_mask(r: &mut Rewriter<'_>, op: Op) -> bool {
    let m = r.module();
    let Some((mask, at)) = source_and_positions::<CreateMaskOp>(m, op) else { return false };
    let (bounds, extents) = (mask.operands(m), shape(&m.ctx, m.value_type(mask.result(m))));
    if extents.is_empty() {
        return false;
    }
    let inside = |((entry, &bound), &extent): ((&Mixed, &Value), &i64)| match (entry, m.constant_int(bound)?) {
        (_, ..=0) => Some(false),
        (&Mixed::Static(n), bound) => (n >= 0).then_some(n < bound),
        (_, bound) => (bound >= extent).then_some(true),
    };
    let inside: Vec<Option<bool>> = at.iter().zip(&bounds).zip(extents).map(inside).collect();
    if inside.contains(&Some(false)) {
        return replace_by_uniform(r, op, false);
    }
    if inside.contains(&None) {
        return false;
    }
    if at.len() == bounds.len() {
        return replace_by_uniform(r, op, true);
    }
    let mut state = OpState::new(&m.ctx, CreateMaskOp::INFO.name, m.loc(op));
    state.operand_group(&bounds[at.len()..]);
    state.result_types.push(m.value_type(m.result(op, 0)));
    r.replace_with(op, state).is_ok()
}
