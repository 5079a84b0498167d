//! Layout propagation through reshapes, which split and merge axes.

use super::{Letters, Unpacked, made, relayout, reshaped, shape};
use crate::graph::ReshapeOp;
use crate::layout::{PackOp, UnpackOp};
use gradus_ir::rewrite::Rewriter;
use gradus_ir::{Module, Op, OpDecl, PatternRewriter, Type, Value};
use std::ops::Range;

/// Returns minimal groups of axes of two shapes with equal products. `None` for an empty tensor.
fn groups(from: &[i64], to: &[i64]) -> Option<Vec<[Range<usize>; 2]>> {
    let (mut all, mut at) = (Vec::new(), [0, 0]);
    while at[0] < from.len() || at[1] < to.len() {
        let start = at;
        let mut sizes = [1_i64, 1];
        loop {
            // Extends the group with the smaller product; of equals, the empty one.
            let side = usize::from(sizes[1] < sizes[0] || sizes[0] == sizes[1] && at[0] > start[0]);
            let (shape, i) = ([from, to][side], at[side]);
            let Some(&extent) = shape.get(i).filter(|&&d| d > 0) else { break };
            sizes[side] = sizes[side].checked_mul(extent)?;
            at[side] += 1;
            if sizes[0] == sizes[1] && at[0] > start[0] && at[1] > start[1] {
                break;
            }
        }
        // The remaining axes have extent 1.
        if sizes[0] != sizes[1] || at == start {
            return None;
        }
        all.push([start[0]..at[0], start[1]..at[1]]);
    }
    Some(all)
}

/// Returns the letters and packed extents after a reshape. Merged axes must be adjacent in the packed tensor.
fn cut(letters: &Letters, from: &[i64], to: &[i64]) -> Option<(Letters, Vec<i64>)> {
    let mut unused = ('A'..='Z').filter(|c| !letters.plain.contains(c));
    let mut after = Letters { packed: Vec::new(), plain: vec![' '; to.len()] };
    let mut places: Vec<(usize, Range<usize>)> = Vec::new();
    for [before, now] in groups(from, to)? {
        let first = *letters.plain.get(before.start)?;
        let at = letters.packed.iter().position(|&c| c == first)?;
        if letters.packed.get(at..at + before.len())? != &letters.plain[before] {
            return None;
        }
        for (i, axis) in now.clone().enumerate() {
            after.plain[axis] = if i == 0 { first } else { unused.next()? };
        }
        places.push((at, now));
    }
    places.sort_by_key(|(at, _)| *at);
    let mut extents = Vec::new();
    for (_, axes) in places {
        after.packed.extend_from_slice(&after.plain[axes.clone()]);
        extents.extend_from_slice(&to[axes]);
    }
    Some((after, extents))
}

/// Moves a reshape before an unpack.
pub(super) fn of_unpack(r: &mut Rewriter<'_>, op: Op) -> bool {
    of_unpacked(r, op).is_some()
}

fn of_unpacked(r: &mut Rewriter<'_>, op: Op) -> Option<()> {
    let m = r.module();
    let reshape = ReshapeOp::cast(m, op)?;
    let from = Unpacked::of(m, reshape.x(m))?;
    let (x, ty) = (shape(m, reshape.x(m))?, m.value_type(m.result(op, 0)));
    let letters = Letters::of(m, from.layout, from.axes)?;
    let (after, extents) = cut(&letters, x, m.ctx.static_shape(ty)?)?;
    let attrs = after.attrs(m)?;
    let packed = m.ctx.tensor_type(&extents, m.ctx.element_type(ty));
    let state = reshaped(r, op, from.x, packed)?;
    let value = made(r, op, state)?;
    let state = relayout(r.module(), UnpackOp::INFO, attrs, op, value, ty);
    r.replace_with(op, state).ok().map(drop)
}

/// Moves a pack before a reshape of an unpacked tensor.
pub(super) fn pack_of_reshape(r: &mut Rewriter<'_>, op: Op) -> bool {
    packed_reshape(r, op).is_some()
}

fn packed_reshape(r: &mut Rewriter<'_>, op: Op) -> Option<()> {
    let m = r.module();
    let reshape = ReshapeOp::defining(m, PackOp::cast(m, op)?.x(m))?;
    let x = reshape.x(m);
    Unpacked::of(m, x)?;
    let (letters, result) = (Letters::of_op(m, op)?, m.value_type(m.result(op, 0)));
    let (before, extents) = cut(&letters, shape(m, m.result(reshape.0, 0))?, shape(m, x)?)?;
    let ty = m.ctx.tensor_type(&extents, m.ctx.element_type(result));
    let state = relayout(m, PackOp::INFO, before.attrs(m)?, op, x, ty);
    let value = made(r, op, state)?;
    let state = reshaped(r, op, value, result)?;
    r.replace_with(op, state).ok().map(drop)
}

/// Replaces a layout change that moves no element by a reshape.
pub(super) fn in_place(r: &mut Rewriter<'_>, op: Op) -> bool {
    let m = r.module();
    if PackOp::cast(m, op).is_none() && UnpackOp::cast(m, op).is_none() {
        return false;
    }
    let (x, ty) = (m.operands(op)[0], m.value_type(m.result(op, 0)));
    let moves_nothing = stays(m, op, x, ty).unwrap_or(false);
    moves_nothing && reshaped(r, op, x, ty).is_some_and(|state| r.replace_with(op, state).is_ok())
}

/// Whether the axes with more than one element keep their order.
fn stays(m: &Module, op: Op, x: Value, ty: Type) -> Option<bool> {
    let letters = Letters::of_op(m, op)?;
    let plain = if PackOp::cast(m, op).is_some() { shape(m, x)? } else { m.ctx.static_shape(ty)? };
    let is_long = |letter: &&char| letters.plain.iter().position(|c| c == *letter).is_some_and(|axis| plain[axis] != 1);
    Some(letters.packed.iter().filter(is_long).eq(letters.plain.iter().filter(is_long)))
}

#[cfg(test)]
mod tests {
    use super::{Letters, cut, groups};

    #[test]
    fn axes_are_cut_and_joined() {
        let of =
            |packed: &str, plain: &str| Letters { packed: packed.chars().collect(), plain: plain.chars().collect() };
        let (after, extents) = cut(&of("NHWC", "NCHW"), &[1, 12, 5, 5], &[1, 4, 3, 5, 5]).unwrap();
        assert_eq!((after.packed.iter().collect::<String>(), extents), ("NHWCA".into(), vec![1, 5, 5, 4, 3]));
        assert!(cut(&of("NHWC", "NCHW"), &[2, 12, 5, 5], &[2, 60, 5]).is_none());
        let (after, extents) = cut(&of("NHWC", "NCHW"), &[2, 12, 5, 5], &[2, 12, 25]).unwrap();
        assert_eq!((after.packed.iter().collect::<String>(), extents), ("NHC".into(), vec![2, 25, 12]));
    }

    #[test]
    fn groups_are_small() {
        assert_eq!(groups(&[2, 3, 4], &[6, 4]), Some(vec![[0..2, 0..1], [2..3, 1..2]]));
        assert_eq!(groups(&[4], &[2, 2]), Some(vec![[0..1, 0..2]]));
        assert_eq!(groups(&[2, 3], &[3, 2]), Some(vec![[0..2, 0..2]]));
        assert_eq!(groups(&[0, 3], &[0]), None);
    }
}
