//! Canonicalization of `transfer_read` and `transfer_write`.

use super::{TransferReadOp, TransferWriteOp, is_minor_identity, map_and_bounds, vector_of};
use crate::vector::contract::dims;
use crate::vector::create_mask::truth;
use crate::vector::masking::is_masked;
use crate::vector::reshape::{broadcastable, replace_by_broadcast};
use crate::vector::types::{scalable, shape};
use crate::{memref, tensor};
use gradus_ir::{Attr, Folded, Module, Op, OpArgs, OpDecl, Pattern, Rewriter, Traits, TypeData, Value};

const IN_BOUNDS: Pattern = Pattern { name: "known to be in bounds", run: known_bounds };
const TRUE_MASK: Pattern = Pattern { name: "transfer under a true mask", run: true_mask };
const FOLD_CAST: Pattern = Pattern { name: "transfer through cast", run: |r, op| memref::fold_casts(r, op, None) };

pub(super) const READ: &[Pattern] = &[
    IN_BOUNDS,
    TRUE_MASK,
    FOLD_CAST,
    Pattern { name: "read of cast", run: read_of_cast },
    Pattern { name: "read after write", run: read_after_write },
];

pub(super) const WRITE: &[Pattern] =
    &[IN_BOUNDS, TRUE_MASK, FOLD_CAST, Pattern { name: "write over write", run: write_over_write }];

/// Returns the memref or tensor of a transfer, and its indices.
fn place(m: &Module, op: Op) -> (Option<Value>, Vec<Value>) {
    m.with_args(op, |args| (args.opt_operand("base"), args.operand("indices").to_vec())).unwrap_or_default()
}

fn mask(m: &Module, op: Op) -> Option<Value> {
    m.with_args(op, |args| args.opt_operand("mask")).flatten()
}

fn is_tensor(m: &Module, value: Value) -> bool {
    matches!(m.ctx.type_data(m.value_type(value)), TypeData::Tensor { .. })
}

/// Forwards a written vector to a read of the same elements.
pub(super) fn fold_read(args: &OpArgs<'_>, _: &[Option<Attr>]) -> Option<Folded> {
    let (m, op) = (args.module, args.op?);
    let write = TransferWriteOp::defining(m, args.operands[0])?;
    let value = write.value_to_store(m);
    let same = m.value_type(value) == m.value_type(m.result(op, 0)) && same_place(m, op, write.0);
    same.then(|| value.into())
}

/// Whether two transfers access the same elements, all in bounds.
fn same_place(m: &Module, a: Op, b: Op) -> bool {
    let (Some((map, bounds)), Some((its, its_bounds))) = (map_and_bounds(m, a), map_and_bounds(m, b)) else {
        return false;
    };
    let inside = bounds.iter().zip(&its_bounds).all(|(&a, &b)| a && b) && !is_masked(m, a) && !is_masked(m, b);
    map == its && inside && mask(m, a).is_none() && mask(m, b).is_none() && place(m, a).1 == place(m, b).1
}

/// Folds a write of elements just read from the same position.
pub(super) fn fold_write(args: &OpArgs<'_>, _: &[Option<Attr>]) -> Option<Folded> {
    let (m, op) = (args.module, args.op?);
    let (value, base) = (args.operands[0], args.operands[1]);
    let read = TransferReadOp::defining(m, value).filter(|r| is_tensor(m, base) && r.base(m) == base)?;
    same_place(m, op, read.0).then(|| base.into())
}

/// Sets `in_bounds` where sizes and constant indices imply it.
fn known_bounds(r: &mut Rewriter<'_>, op: Op) -> bool {
    let m = r.module();
    let Some((map, before)) = map_and_bounds(m, op) else { return false };
    let (Some(base), indices) = place(m, op) else { return false };
    let Some(ty) = vector_of(m, op) else { return false };
    let (sizes, extents) = (m.ctx.shape(m.value_type(base)).unwrap_or(&[]), shape(&m.ctx, ty));
    let inside = |i: usize, dim: usize| {
        let at = m.constant_int(indices[dim]).filter(|&at| at >= 0);
        !scalable(&m.ctx, ty)[i]
            && sizes[dim] >= 0
            && at.and_then(|at| at.checked_add(extents[i])).is_some_and(|end| end <= sizes[dim])
    };
    let mut after = before.clone();
    for (i, dim) in dims(map).into_iter().enumerate() {
        after[i] |= dim.is_some_and(|dim| inside(i, dim));
    }
    if after == before {
        return false;
    }
    let after: Vec<Attr> = after.into_iter().map(|b| m.ctx.bool_attr(b)).collect();
    let after = m.ctx.array_attr(&after);
    r.modify(op, |m| m.set_attr(op, "in_bounds", Some(after)));
    true
}

fn true_mask(r: &mut Rewriter<'_>, op: Op) -> bool {
    let m = r.module();
    if is_masked(m, op) {
        return false;
    }
    let Some(mask) = mask(m, op).filter(|&mask| truth(m, mask) == Some(true)) else { return false };
    let kept: Vec<Value> = m.operands(op).iter().copied().take_while(|&v| v != mask).collect();
    debug_assert!(m.has_trait(op, Traits::OPERAND_SEGMENTS));
    let segments = m.inherent_attr(op, "operandSegmentSizes").and_then(|a| m.ctx.as_ints(a));
    let Some(mut segments) = segments.filter(|_| kept.len() + 1 == m.operands(op).len()) else { return false };
    if let Some(last) = segments.last_mut() {
        *last = 0;
    }
    let segments: Vec<i32> = segments.into_iter().filter_map(|n| i32::try_from(n).ok()).collect();
    let segments = m.ctx.i32_array_attr(&segments);
    r.modify(op, |m| {
        m.set_operands(op, &kept);
        m.set_attr(op, "operandSegmentSizes", Some(segments));
    });
    true
}

/// Reads the source of a cast that loses static extents.
fn read_of_cast(r: &mut Rewriter<'_>, op: Op) -> bool {
    let m = r.module();
    let Some(cast) = tensor::CastOp::defining(m, TransferReadOp(op).base(m)) else { return false };
    let source = cast.source(m);
    let (from, to) = (m.ctx.shape(m.value_type(source)), m.ctx.shape(m.value_type(cast.dest(m))));
    let keeps = |(from, to): (&[i64], &[i64])| from.iter().zip(to).all(|(a, b)| a == b || *b < 0);
    if !from.zip(to).is_some_and(keeps) {
        return false;
    }
    r.modify(op, |m| m.set_operand(op, 0, source));
    true
}

/// Forwards a written vector to a read that broadcasts it.
fn read_after_write(r: &mut Rewriter<'_>, op: Op) -> bool {
    let m = r.module();
    if is_masked(m, op) {
        return false;
    }
    let Some(write) = TransferWriteOp::defining(m, TransferReadOp(op).base(m)) else { return false };
    let (Some((map, bounds)), Some((its, its_bounds))) = (map_and_bounds(m, op), map_and_bounds(m, write.0)) else {
        return false;
    };
    let (own, written) = (dims(map), dims(its));
    let leading = own.iter().take_while(|d| d.is_none()).count();
    let value = write.value_to_store(m);
    let ty = m.value_type(m.result(op, 0));
    let same = own[leading..] == written[..]
        && is_minor_identity(its)
        && bounds.iter().skip(leading).chain(&its_bounds).all(|&b| b)
        && mask(m, op).is_none()
        && mask(m, write.0).is_none()
        && place(m, op).1 == place(m, write.0).1
        && shape(&m.ctx, ty)[leading..] == *shape(&m.ctx, m.value_type(value));
    same && broadcastable(&m.ctx, m.value_type(value), ty).is_ok() && replace_by_broadcast(r, op, value)
}

/// Removes an earlier write to the same elements that nothing reads.
fn write_over_write(r: &mut Rewriter<'_>, op: Op) -> bool {
    let m = r.module();
    if is_masked(m, op) {
        return false;
    }
    let base = TransferWriteOp(op).base(m);
    let Some(first) = TransferWriteOp::defining(m, base) else { return false };
    let types = [TransferWriteOp(op), first].map(|w| m.value_type(w.value_to_store(m)));
    if types[0] != types[1] || !same_place(m, op, first.0) {
        return false;
    }
    let before = first.base(m);
    r.modify(op, |m| m.set_operand(op, 1, before));
    true
}
