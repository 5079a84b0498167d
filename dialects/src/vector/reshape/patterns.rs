//! Canonicalization of `broadcast`, `shape_cast`, `bitcast` and `transpose`.

use super::{
    BitCastOp, BroadcastOp, ListsElements, ShapeCastOp, TransposeOp, bitcast, broadcastable, fold_splat, permutation,
    replace_by_broadcast, replace_by_shape_cast,
};
use crate::constraint::{FLOAT_LIKE, INT_OR_INDEX_LIKE};
use crate::vector::build::{self, ends_with};
use crate::vector::data::fold_small;
use crate::vector::types::{count, ints, is_scalable, scalable, scalables, shape};
use crate::vector::{ConstantMaskOp, CreateMaskOp};
use gradus_ir::{
    Attr, AttrData, Folded, Module, Op, OpArgs, OpDecl, OpState, Pattern, PatternRewriter, Rewriter, Type, Value,
};

pub(super) const BROADCAST: &[Pattern] = &[
    Pattern { name: "broadcast of broadcast", run: broadcast_of_broadcast },
    Pattern { name: "broadcast of shape_cast", run: broadcast_of_shape_cast },
];

pub(super) const SHAPE_CAST: &[Pattern] = &[
    Pattern { name: "shape_cast of shape_cast", run: cast_of_cast },
    Pattern { name: "shape_cast of broadcast", run: cast_of_broadcast },
    Pattern { name: "shape_cast of transpose", run: cast_of_transpose },
    Pattern { name: "shape_cast of mask", run: cast_of_mask },
];

pub(super) const TRANSPOSE: &[Pattern] = &[
    Pattern { name: "transpose of transpose", run: transpose_of_transpose },
    Pattern { name: "transpose of broadcast", run: transpose_of_broadcast },
    Pattern { name: "transpose of shape_cast", run: transpose_of_shape_cast },
    Pattern { name: "transpose of mask", run: transpose_of_mask },
    Pattern { name: "transpose of elements", run: transpose_of_elements },
];

/// Folds an op whose result type is the operand type.
fn unchanged(args: &OpArgs<'_>) -> Option<Folded> {
    (args.result_types.first() == Some(&args.operand_type(0))).then(|| args.operands[0].into())
}

pub(super) fn fold_broadcast(args: &OpArgs<'_>, constants: &[Option<Attr>]) -> Option<Folded> {
    unchanged(args).or_else(|| fold_splat(args, constants)).or_else(|| {
        let (scalar, &ty) = (constants[0]?, args.result_types.first()?);
        let number = matches!(args.ctx().attr_data(scalar), AttrData::Integer { .. } | AttrData::Float { .. });
        args.ctx().splat_attr(ty, scalar).filter(|_| number).map(Folded::from)
    })
}

pub(super) fn fold_shape_cast(args: &OpArgs<'_>, constants: &[Option<Attr>]) -> Option<Folded> {
    unchanged(args).or_else(|| fold_splat(args, constants)).or_else(|| {
        // Inverse of the producer.
        let source = ShapeCastOp::defining(args.module, args.operands[0])?.source(args.module);
        (Some(&args.module.value_type(source)) == args.result_types.first()).then(|| source.into())
    })
}

pub(super) fn fold_bitcast(args: &OpArgs<'_>, constants: &[Option<Attr>]) -> Option<Folded> {
    if let Some(same) = unchanged(args) {
        return Some(same);
    }
    let (ctx, m) = (args.ctx(), args.module);
    let back = BitCastOp::defining(m, args.operands[0]).map(|first| first.source(m));
    if let Some(source) = back.filter(|&v| Some(&m.value_type(v)) == args.result_types.first()) {
        return Some(source.into());
    }
    // Signed integer types have no constants.
    let signless = (INT_OR_INDEX_LIKE.check)(ctx, *args.result_types.first()?);
    let number = signless || (FLOAT_LIKE.check)(ctx, *args.result_types.first()?);
    if number { fold_small(args, constants, bitcast) } else { None }
}

pub(super) const BITCAST: &[Pattern] = &[Pattern { name: "bitcast of bitcast", run: bitcast_of_bitcast }];

fn bitcast_of_bitcast(r: &mut Rewriter<'_>, op: Op) -> bool {
    let m = r.module();
    let Some(first) = BitCastOp::defining(m, BitCastOp(op).source(m)) else { return false };
    let source = first.source(m);
    r.modify(op, |m| m.set_operand(op, 0, source));
    true
}

pub(super) fn fold_transpose(args: &OpArgs<'_>, constants: &[Option<Attr>]) -> Option<Folded> {
    let order = args.ints("permutation")?;
    let same = order.iter().enumerate().all(|(i, &d)| d == i as i64);
    if same { Some(args.operands[0].into()) } else { fold_splat(args, constants) }
}

fn broadcast_of_broadcast(r: &mut Rewriter<'_>, op: Op) -> bool {
    let m = r.module();
    let Some(first) = BroadcastOp::defining(m, BroadcastOp(op).source(m)) else { return false };
    let source = first.source(m);
    replace_by_broadcast(r, op, source)
}

/// Removes unit dimensions that a broadcast adds anyway.
fn broadcast_of_shape_cast(r: &mut Rewriter<'_>, op: Op) -> bool {
    let m = r.module();
    let Some(cast) = ShapeCastOp::defining(m, BroadcastOp(op).source(m)) else { return false };
    let source = cast.source(m);
    let (from, to) = (m.value_type(source), m.value_type(cast.result(m)));
    if !ends_with(&m.ctx, to, from) || count(&m.ctx, to) != count(&m.ctx, from) {
        return false;
    }
    r.modify(op, |m| m.set_operand(op, 0, source));
    true
}

fn cast_of_cast(r: &mut Rewriter<'_>, op: Op) -> bool {
    let m = r.module();
    let Some(first) = ShapeCastOp::defining(m, ShapeCastOp(op).source(m)) else { return false };
    let source = first.source(m);
    r.modify(op, |m| m.set_operand(op, 0, source));
    true
}

/// Merges a broadcast with a shape cast whose result ends with the source shape.
fn cast_of_broadcast(r: &mut Rewriter<'_>, op: Op) -> bool {
    let m = r.module();
    let Some(broadcast) = BroadcastOp::defining(m, ShapeCastOp(op).source(m)) else { return false };
    let source = broadcast.source(m);
    let (from, between, ty) = (m.value_type(source), m.value_type(broadcast.vector(m)), m.value_type(m.result(op, 0)));
    let once = m.ctx.is_shaped(from)
        && count(&m.ctx, from) == count(&m.ctx, between)
        && scalables(&m.ctx, from) == scalables(&m.ctx, between);
    if once {
        return replace_by_shape_cast(r, op, source);
    }
    let fits = ends_with(&m.ctx, between, from) && ends_with(&m.ctx, ty, from);
    fits && replace_by_broadcast(r, op, source)
}

/// Whether a permutation only moves unit dimensions, which keeps the order of elements.
fn keeps_order(extents: &[i64], flags: &[bool], order: &[i64]) -> bool {
    let long = |&&d: &&i64| extents[d as usize] != 1 || flags[d as usize];
    order.iter().filter(long).is_sorted()
}

fn cast_of_transpose(r: &mut Rewriter<'_>, op: Op) -> bool {
    let m = r.module();
    let Some(transpose) = TransposeOp::defining(m, ShapeCastOp(op).source(m)) else { return false };
    let source = transpose.vector(m);
    let ty = m.value_type(source);
    let kept = keeps_order(shape(&m.ctx, ty), scalable(&m.ctx, ty), &permutation(m, transpose.0));
    kept && replace_by_shape_cast(r, op, source)
}

/// Bounds of a mask, static where possible.
enum MaskBounds {
    Values(Vec<Value>),
    Numbers(Vec<i64>),
}

fn bounds_of(m: &Module, mask: Value) -> Option<MaskBounds> {
    if let Some(mask) = CreateMaskOp::defining(m, mask) {
        return Some(MaskBounds::Values(mask.operands(m).to_vec()));
    }
    ConstantMaskOp::defining(m, mask).map(|mask| MaskBounds::Numbers(ints(m, mask.0, "mask_dim_sizes")))
}

/// Replaces `op` by a mask with the bounds selected by `choose`.
fn replace_by_mask(r: &mut Rewriter<'_>, op: Op, bounds: &MaskBounds, kept: &[usize]) -> bool {
    let m = r.module();
    let mut state;
    match bounds {
        MaskBounds::Values(values) => {
            state = OpState::new(&m.ctx, CreateMaskOp::INFO.name, m.loc(op));
            state.operand_group(&kept.iter().map(|&i| values[i]).collect::<Vec<_>>());
        }
        MaskBounds::Numbers(numbers) => {
            state = OpState::new(&m.ctx, ConstantMaskOp::INFO.name, m.loc(op));
            let numbers: Vec<i64> = kept.iter().map(|&i| numbers[i]).collect();
            state.inherent(&m.ctx, "mask_dim_sizes", Some(m.ctx.i64_array_attr(&numbers)));
        }
    }
    state.result_types.push(m.value_type(m.result(op, 0)));
    r.replace_with(op, state).is_ok()
}

/// Drops trailing unit dimensions of a mask that are true.
fn cast_of_mask(r: &mut Rewriter<'_>, op: Op) -> bool {
    let m = r.module();
    let source = ShapeCastOp(op).source(m);
    let Some(bounds) = bounds_of(m, source) else { return false };
    let (from, to) = (m.value_type(source), m.value_type(m.result(op, 0)));
    let (extents, kept) = (shape(&m.ctx, from), shape(&m.ctx, to));
    let one = |i: usize| {
        let whole = match &bounds {
            MaskBounds::Values(values) => m.constant_int(values[i]).is_some_and(|n| n > 0),
            MaskBounds::Numbers(numbers) => numbers[i] == 1,
        };
        whole && extents[i] == 1 && !scalable(&m.ctx, from)[i]
    };
    let same = extents.starts_with(kept) && scalable(&m.ctx, from).starts_with(scalable(&m.ctx, to));
    if kept.is_empty() || !same || !(kept.len()..extents.len()).all(one) {
        return false;
    }
    let kept: Vec<usize> = (0..kept.len()).collect();
    replace_by_mask(r, op, &bounds, &kept)
}

fn transpose_of_transpose(r: &mut Rewriter<'_>, op: Op) -> bool {
    let m = r.module();
    let Some(first) = TransposeOp::defining(m, TransposeOp(op).vector(m)) else { return false };
    let (source, own, its) = (first.vector(m), permutation(m, op), permutation(m, first.0));
    let order: Vec<i64> = own.iter().map(|&d| its[d as usize]).collect();
    let order = m.ctx.i64_array_attr(&order);
    r.modify(op, |m| {
        m.set_operand(op, 0, source);
        m.set_attr(op, "permutation", Some(order));
    });
    true
}

/// Removes a transposition of equal dimensions.
fn transpose_of_broadcast(r: &mut Rewriter<'_>, op: Op) -> bool {
    let m = r.module();
    let Some(broadcast) = BroadcastOp::defining(m, TransposeOp(op).vector(m)) else { return false };
    let source = broadcast.source(m);
    let (from, ty) = (m.value_type(source), m.value_type(m.result(op, 0)));
    let order = permutation(m, op);
    let leading = order.len() - shape(&m.ctx, from).len();
    let same = (leading..order.len()).all(|i| order[i] == i as i64);
    let single = count(&m.ctx, from) == 1 && !is_scalable(&m.ctx, from);
    (same || single) && broadcastable(&m.ctx, from, ty).is_ok() && replace_by_broadcast(r, op, source)
}

fn transpose_of_shape_cast(r: &mut Rewriter<'_>, op: Op) -> bool {
    let m = r.module();
    let Some(cast) = ShapeCastOp::defining(m, TransposeOp(op).vector(m)) else { return false };
    let (source, ty) = (cast.source(m), m.value_type(cast.result(m)));
    let kept = keeps_order(shape(&m.ctx, ty), scalable(&m.ctx, ty), &permutation(m, op));
    kept && replace_by_shape_cast(r, op, source)
}

fn transpose_of_mask(r: &mut Rewriter<'_>, op: Op) -> bool {
    let m = r.module();
    let Some(bounds) = bounds_of(m, TransposeOp(op).vector(m)) else { return false };
    let order: Vec<usize> = permutation(m, op).into_iter().map(|d| d as usize).collect();
    !order.is_empty() && replace_by_mask(r, op, &bounds, &order)
}

fn transpose_of_elements(r: &mut Rewriter<'_>, op: Op) -> bool {
    let m = r.module();
    let vector = TransposeOp(op).vector(m);
    let is_list = |&from: &Op| m.info(from).is_some_and(|info| info.extension::<ListsElements>().is_some());
    let Some(from) = m.defining_op(vector).filter(is_list) else { return false };
    let (old, ty): (Type, Type) = (m.value_type(vector), m.value_type(m.result(op, 0)));
    let (elements, order) = (m.operands(from), permutation(m, op));
    let (before, after) = (shape(&m.ctx, old), shape(&m.ctx, ty));
    let element = |n: i64| {
        let index = build::delinearize(after, n);
        let mut own = vec![0; before.len()];
        order.iter().zip(index).for_each(|(&dim, i)| own[dim as usize] = i);
        elements[build::linear(before, &own) as usize]
    };
    let elements: Vec<Value> = (0..elements.len() as i64).map(element).collect();
    let mut state = OpState::of(m.name(from), m.loc(op));
    state.operand_group(&elements);
    state.result_types.push(ty);
    r.replace_with(op, state).is_ok()
}
