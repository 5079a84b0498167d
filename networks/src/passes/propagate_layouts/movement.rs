//! Layout propagation through ops that move elements along axes.

use super::{Letters, Unpacked, integers, made, relayout, unpacking};
use crate::graph::{ConcatOp, LrnOp, PadOp, ResizeOp, SliceOp, SoftmaxOp, TableOp, TransposeOp};
use crate::layout::UnpackOp;
use gradus_ir::rewrite::Rewriter;
use gradus_ir::{Module, Op, OpDecl, OpState, PatternRewriter, Type, Value};

/// Replaces an op by one on packed operands, followed by an unpack.
fn replaced(r: &mut Rewriter<'_>, op: Op, from: &Unpacked, mut state: OpState) -> Option<()> {
    let m = r.module();
    let (ty, letters) = (m.value_type(m.result(op, 0)), Letters::of(m, from.layout, from.axes)?);
    let packed = letters.packed_extents(m.ctx.static_shape(ty)?)?;
    state.result_types.push(m.ctx.tensor_type(&packed, m.ctx.element_type(ty)));
    let value = made(r, op, state)?;
    let state = unpacking(r.module(), from, op, value);
    r.replace_with(op, state).ok().map(drop)
}

/// Recreates the op along the packed axis.
fn along(r: &mut Rewriter<'_>, op: Op) -> Option<()> {
    let m = r.module();
    let all = Unpacked::all(m, m.operands(op))?;
    let axis = m.args(op)?.int("axis")?;
    let moved = Letters::of(m, all[0].layout, all[0].axes)?.packed_axis(axis)?;
    let mut state = OpState::like(m, op);
    state.set_inherent(&m.ctx, "axis", Some(m.ctx.int_attr(Type::I64, moved)));
    state.operands.extend(all.iter().map(|one| one.x));
    replaced(r, op, &all[0], state)
}

pub(super) fn concat(r: &mut Rewriter<'_>, op: Op) -> bool {
    ConcatOp::cast(r.module(), op).is_some() && along(r, op).is_some()
}

/// Looks up packed elements; tables of channels are along the packed axis.
pub(super) fn table(r: &mut Rewriter<'_>, op: Op) -> bool {
    looked_up(r, op).is_some()
}

fn looked_up(r: &mut Rewriter<'_>, op: Op) -> Option<()> {
    let m = r.module();
    let table = TableOp::cast(m, op)?;
    let (from, rows) = (Unpacked::of(m, table.x(m))?, table.table(m));
    let mut state = OpState::like(m, op);
    if super::shape(m, rows)?.len() == 2 {
        let moved = Letters::of(m, from.layout, from.axes)?.packed_axis(m.args(op)?.int("axis")?)?;
        state.set_inherent(&m.ctx, "axis", Some(m.ctx.int_attr(Type::I64, moved)));
    }
    state.operands.extend([from.x, rows]);
    replaced(r, op, &from, state)
}

pub(super) fn lrn(r: &mut Rewriter<'_>, op: Op) -> bool {
    LrnOp::cast(r.module(), op).is_some() && along(r, op).is_some()
}

pub(super) fn softmax(r: &mut Rewriter<'_>, op: Op) -> bool {
    let m = r.module();
    let flattens = m.args(op).is_some_and(|args| args.flag("legacy_flatten"));
    SoftmaxOp::cast(m, op).is_some() && !flattens && along(r, op).is_some()
}

/// Returns the elements of a constant operand.
fn list(m: &Module, value: Option<Value>) -> Option<Vec<i64>> {
    m.ctx.dense_tensor(m.constant(value?)?)?.to_i64()
}

/// Returns the packed axes for the axes in an operand, or for all of `count`.
fn axes(m: &Module, from: &Unpacked, named: Option<Value>, count: usize) -> Option<Vec<i64>> {
    packed(m, from, if named.is_some() { Some(list(m, named)?) } else { None }, count)
}

/// Returns the packed axes for named ones, or for all of `count`.
fn packed(m: &Module, from: &Unpacked, named: Option<Vec<i64>>, count: usize) -> Option<Vec<i64>> {
    let letters = Letters::of(m, from.layout, from.axes)?;
    let axes = named.unwrap_or_else(|| (0..count as i64).collect());
    axes.into_iter().map(|axis| letters.packed_axis(axis)).collect()
}

pub(super) fn slice(r: &mut Rewriter<'_>, op: Op) -> bool {
    sliced(r, op).is_some()
}

fn sliced(r: &mut Rewriter<'_>, op: Op) -> Option<()> {
    let m = r.module();
    let slice = SliceOp::cast(m, op)?;
    let from = Unpacked::of(m, slice.x(m))?;
    let count = list(m, Some(slice.starts(m)))?.len();
    let axes = axes(m, &from, slice.axes(m), count)?;
    let axes = integers(r, op, &axes)?;
    let m = r.module();
    let mut state = OpState::new(&m.ctx, SliceOp::INFO.name, m.loc(op));
    for group in [&[from.x][..], &[slice.starts(m)], &[slice.ends(m)], &[axes], slice.steps(m).as_slice()] {
        state.operand_group(group);
    }
    replaced(r, op, &from, state)
}

pub(super) fn pad(r: &mut Rewriter<'_>, op: Op) -> bool {
    padded(r, op).is_some()
}

fn padded(r: &mut Rewriter<'_>, op: Op) -> Option<()> {
    let m = r.module();
    let pad = PadOp::cast(m, op)?;
    let from = Unpacked::of(m, pad.x(m))?;
    let count = list(m, Some(pad.pads(m)))?.len() / 2;
    let axes = axes(m, &from, pad.axes(m), count)?;
    let axes = integers(r, op, &axes)?;
    let m = r.module();
    let mut state = OpState::new(&m.ctx, PadOp::INFO.name, m.loc(op));
    for group in [&[from.x][..], &[pad.pads(m)], pad.constant_value(m).as_slice(), &[axes]] {
        state.operand_group(group);
    }
    state.inherent(&m.ctx, "mode", m.args(op)?.attr("mode"));
    replaced(r, op, &from, state)
}

pub(super) fn resize(r: &mut Rewriter<'_>, op: Op) -> bool {
    resampled(r, op).is_some()
}

fn resampled(r: &mut Rewriter<'_>, op: Op) -> Option<()> {
    let m = r.module();
    let from = Unpacked::of(m, ResizeOp::cast(m, op)?.x(m))?;
    let named = m.args(op)?.ints("axes").filter(|axes| !axes.is_empty());
    let axes = packed(m, &from, named, super::shape(m, from.x)?.len())?;
    let mut state = OpState::with_operands_of(m, op);
    state.set_operand_group(m.info(op)?, "x", &[from.x]);
    state.set_inherent(&m.ctx, "axes", Some(m.ctx.i64_array_attr(&axes)));
    replaced(r, op, &from, state)
}

/// Folds a transposition of an unpacked tensor into the unpack, by renaming its axes.
pub(super) fn transpose(r: &mut Rewriter<'_>, op: Op) -> bool {
    transposed(r, op).is_some()
}

fn transposed(r: &mut Rewriter<'_>, op: Op) -> Option<()> {
    let m = r.module();
    let from = Unpacked::of(m, TransposeOp::cast(m, op)?.x(m))?;
    let mut letters = Letters::of(m, from.layout, from.axes)?;
    let perm = m.args(op)?.ints("perm").filter(|perm| !perm.is_empty());
    let perm = perm.unwrap_or_else(|| (0..letters.plain.len() as i64).rev().collect());
    let letter = |&axis: &i64| letters.plain.get(usize::try_from(axis).ok()?).copied();
    letters.plain = perm.iter().map(letter).collect::<Option<_>>()?;
    let ty = m.value_type(m.result(op, 0));
    let state = relayout(m, UnpackOp::INFO, letters.attrs(m)?, op, from.x, ty);
    r.replace_with(op, state).ok().map(drop)
}
