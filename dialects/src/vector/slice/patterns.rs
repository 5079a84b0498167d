//! Canonicalization of `extract_strided_slice` and `insert_strided_slice`.

use super::{ExtractStridedSliceOp, InsertStridedSliceOp, block_type, insert};
use crate::vector::create_mask::ConstantMaskOp;
use crate::vector::data::fold_small;
use crate::vector::reshape::{BroadcastOp, fold_splat, replace_by_broadcast, splat_of};
use crate::vector::types::{ints, shape};
use gradus_ir::{Attr, Folded, Module, Op, OpArgs, OpDecl, OpState, Pattern, PatternRewriter, Rewriter, Value};

pub(super) const EXTRACT: &[Pattern] = &[
    Pattern { name: "slice of slice", run: of_slice },
    Pattern { name: "slice of broadcast", run: of_broadcast },
    Pattern { name: "slice of mask", run: of_mask },
    Pattern { name: "slice beside inserted slice", run: beside_insert },
    Pattern { name: "slice of inserted slice", run: inside_insert },
];

/// Folds a slice of the whole vector, or of a block that was just inserted.
pub(super) fn fold_extract(args: &OpArgs<'_>, constants: &[Option<Attr>]) -> Option<Folded> {
    let (m, source) = (args.module, args.operands[0]);
    if args.result_types.first() == Some(&args.operand_type(0)) {
        return Some(source.into());
    }
    if let Some(splat) = fold_splat(args, constants) {
        return Some(splat);
    }
    let insert = InsertStridedSliceOp::defining(m, source)?;
    let part = insert.value_to_store(m);
    let mut offsets = args.ints("offsets")?;
    offsets.resize(shape(&m.ctx, args.operand_type(0)).len(), 0);
    let same = offsets == ints(m, insert.0, "offsets");
    (same && args.result_types.first() == Some(&m.value_type(part))).then(|| part.into())
}

pub(super) fn fold_insert(args: &OpArgs<'_>, constants: &[Option<Attr>]) -> Option<Folded> {
    let (m, part, dest) = (args.module, args.operands[0], args.operands[1]);
    if m.value_type(part) == m.value_type(dest) {
        return Some(part.into());
    }
    if let (Some(a), Some(b)) = (splat_of(m, part), splat_of(m, dest))
        && a == b
    {
        return Some(dest.into());
    }
    put_back(args).or_else(|| fold_small(args, constants, insert))
}

/// Folds the insertion of a block extracted from the same position.
fn put_back(args: &OpArgs<'_>) -> Option<Folded> {
    let (m, part, dest) = (args.module, args.operands[0], args.operands[1]);
    let extract = ExtractStridedSliceOp::defining(m, part).filter(|e| e.source(m) == dest)?;
    let mut offsets = ints(m, extract.0, "offsets");
    let all = args.ints("offsets")?;
    offsets.resize(all.len(), 0);
    (offsets == all).then(|| dest.into())
}

fn slice_state(m: &Module, op: Op, source: Value, offsets: &[i64], sizes: &[i64]) -> OpState {
    let ctx = &m.ctx;
    let list = |numbers: &[i64]| {
        let numbers: Vec<Attr> = numbers.iter().map(|&n| ctx.int_attr(gradus_ir::Type::I64, n)).collect();
        Some(ctx.array_attr(&numbers))
    };
    let mut state = OpState::new(ctx, ExtractStridedSliceOp::INFO.name, m.loc(op));
    state.operand_group(&[source]);
    state.inherent(ctx, "offsets", list(offsets));
    state.inherent(ctx, "sizes", list(sizes));
    state.inherent(ctx, "strides", list(&vec![1; sizes.len()]));
    state.result_types.push(block_type(m, m.value_type(source), sizes));
    state
}

/// Returns offsets and sizes in all dimensions.
fn all_dims(m: &Module, op: Op) -> (Vec<i64>, Vec<i64>) {
    let extents = shape(&m.ctx, m.value_type(ExtractStridedSliceOp(op).source(m)));
    let (mut offsets, mut sizes) = (ints(m, op, "offsets"), ints(m, op, "sizes"));
    offsets.resize(extents.len(), 0);
    sizes.extend_from_slice(&extents[sizes.len()..]);
    (offsets, sizes)
}

fn of_slice(r: &mut Rewriter<'_>, op: Op) -> bool {
    let m = r.module();
    let Some(first) = ExtractStridedSliceOp::defining(m, ExtractStridedSliceOp(op).source(m)) else { return false };
    let ((mut offsets, sizes), (before, _)) = (all_dims(m, op), all_dims(m, first.0));
    offsets.iter_mut().zip(before).for_each(|(a, b)| *a += b);
    let state = slice_state(m, op, first.source(m), &offsets, &sizes);
    r.replace_with(op, state).is_ok()
}

/// Moves a broadcast behind the slice.
fn of_broadcast(r: &mut Rewriter<'_>, op: Op) -> bool {
    let m = r.module();
    let Some(broadcast) = BroadcastOp::defining(m, ExtractStridedSliceOp(op).source(m)) else { return false };
    let source = broadcast.source(m);
    let extents = shape(&m.ctx, m.value_type(source));
    let (offsets, sizes) = all_dims(m, op);
    let leading = offsets.len() - extents.len();
    let own = |i: usize| if extents[i] == 1 { (0, 1) } else { (offsets[leading + i], sizes[leading + i]) };
    let (offsets, sizes): (Vec<i64>, Vec<i64>) = (0..extents.len()).map(own).unzip();
    if sizes == extents {
        return replace_by_broadcast(r, op, source);
    }
    let state = slice_state(m, op, source, &offsets, &sizes);
    let Ok(block) = r.create_before(op, state) else { return false };
    let block = r.module().result(block, 0);
    replace_by_broadcast(r, op, block)
}

/// Replaces a slice of a mask by a mask.
fn of_mask(r: &mut Rewriter<'_>, op: Op) -> bool {
    let m = r.module();
    let Some(mask) = ConstantMaskOp::defining(m, ExtractStridedSliceOp(op).source(m)) else { return false };
    let (offsets, sizes) = all_dims(m, op);
    let bounds = ints(m, mask.0, "mask_dim_sizes");
    let mut kept: Vec<i64> =
        bounds.iter().zip(&offsets).zip(&sizes).map(|((b, offset), &size)| (b - offset).clamp(0, size)).collect();
    if kept.contains(&0) {
        kept.fill(0);
    }
    let mut state = OpState::new(&m.ctx, ConstantMaskOp::INFO.name, m.loc(op));
    state.inherent(&m.ctx, "mask_dim_sizes", Some(m.ctx.i64_array_attr(&kept)));
    state.result_types.push(m.value_type(m.result(op, 0)));
    r.replace_with(op, state).is_ok()
}

/// Bypasses an insertion that does not overlap the slice.
fn beside_insert(r: &mut Rewriter<'_>, op: Op) -> bool {
    let m = r.module();
    let Some(insert) = InsertStridedSliceOp::defining(m, ExtractStridedSliceOp(op).source(m)) else { return false };
    let (offsets, sizes) = all_dims(m, op);
    let part = shape(&m.ctx, m.value_type(insert.value_to_store(m)));
    let its = ints(m, insert.0, "offsets");
    let leading = its.len() - part.len();
    let apart = |i: usize| {
        let len = if i < leading { 1 } else { part[i - leading] };
        offsets[i] >= its[i] + len || its[i] >= offsets[i] + sizes[i]
    };
    if !(0..its.len()).any(apart) {
        return false;
    }
    let dest = insert.dest(m);
    r.modify(op, |m| m.set_operand(op, 0, dest));
    true
}

/// Slices the inserted block directly.
fn inside_insert(r: &mut Rewriter<'_>, op: Op) -> bool {
    let m = r.module();
    let Some(insert) = InsertStridedSliceOp::defining(m, ExtractStridedSliceOp(op).source(m)) else { return false };
    let (mut offsets, sizes) = all_dims(m, op);
    let value = insert.value_to_store(m);
    let (part, its) = (shape(&m.ctx, m.value_type(value)), ints(m, insert.0, "offsets"));
    let inside = |i: usize| offsets[i] >= its[i] && offsets[i] + sizes[i] <= its[i] + part[i];
    if part.len() != its.len() || !(0..its.len()).all(inside) {
        return false;
    }
    offsets.iter_mut().zip(its).for_each(|(offset, first)| *offset -= first);
    let state = slice_state(m, op, value, &offsets, &sizes);
    r.replace_with(op, state).is_ok()
}
