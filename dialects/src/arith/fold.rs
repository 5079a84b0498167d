//! Folds of integer arithmetic by identities that hold for all operands. Constant folding is derived from the
//! semantics.

use gradus_ir::{Attr, Folded, OpArgs};

fn is(args: &OpArgs<'_>, constant: Option<Attr>, value: i64) -> bool {
    constant.is_some_and(|c| args.ctx().is_uniform(c, value as f64))
}

fn same(args: &OpArgs<'_>) -> bool {
    args.operands[0] == args.operands[1]
}

fn constant(args: &OpArgs<'_>, value: i64) -> Option<Folded> {
    args.ctx().uniform_attr(*args.result_types.first()?, value as f64).map(Folded::from)
}

/// x + 0 = x, 0 + x = x
pub(super) fn addi(args: &OpArgs<'_>, c: &[Option<Attr>]) -> Option<Folded> {
    match () {
        () if is(args, c[1], 0) => Some(args.operands[0].into()),
        () if is(args, c[0], 0) => Some(args.operands[1].into()),
        () => None,
    }
}

/// x - 0 = x, x - x = 0
pub(super) fn subi(args: &OpArgs<'_>, c: &[Option<Attr>]) -> Option<Folded> {
    match () {
        () if is(args, c[1], 0) => Some(args.operands[0].into()),
        () if same(args) => constant(args, 0),
        () => None,
    }
}

/// x * 1 = x, x * 0 = 0
pub(super) fn muli(args: &OpArgs<'_>, c: &[Option<Attr>]) -> Option<Folded> {
    for (i, other) in [(1, 0), (0, 1)] {
        if is(args, c[i], 1) {
            return Some(args.operands[other].into());
        }
        if is(args, c[i], 0) {
            return Some(args.operands[i].into());
        }
    }
    None
}

/// x shifted by 0 = x
pub(super) fn shift(args: &OpArgs<'_>, c: &[Option<Attr>]) -> Option<Folded> {
    is(args, c[1], 0).then(|| args.operands[0].into())
}

/// x / 1 = x
pub(super) fn divide(args: &OpArgs<'_>, c: &[Option<Attr>]) -> Option<Folded> {
    is(args, c[1], 1).then(|| args.operands[0].into())
}

/// x mod 1 = 0
pub(super) fn remainder(args: &OpArgs<'_>, c: &[Option<Attr>]) -> Option<Folded> {
    if is(args, c[1], 1) { constant(args, 0) } else { None }
}

/// x & 0 = 0, x & -1 = x, x & x = x
pub(super) fn andi(args: &OpArgs<'_>, c: &[Option<Attr>]) -> Option<Folded> {
    for (i, other) in [(1, 0), (0, 1)] {
        if is(args, c[i], 0) {
            return Some(args.operands[i].into());
        }
        if is(args, c[i], -1) {
            return Some(args.operands[other].into());
        }
    }
    same_operands(args, c)
}

/// x | 0 = x, x | -1 = -1, x | x = x
pub(super) fn ori(args: &OpArgs<'_>, c: &[Option<Attr>]) -> Option<Folded> {
    for (i, other) in [(1, 0), (0, 1)] {
        if is(args, c[i], -1) {
            return Some(args.operands[i].into());
        }
        if is(args, c[i], 0) {
            return Some(args.operands[other].into());
        }
    }
    same_operands(args, c)
}

/// x ^ 0 = x, x ^ x = 0
pub(super) fn xori(args: &OpArgs<'_>, c: &[Option<Attr>]) -> Option<Folded> {
    if same(args) { constant(args, 0) } else { addi(args, c) }
}

/// op(x, x) = x
pub(super) fn same_operands(args: &OpArgs<'_>, _: &[Option<Attr>]) -> Option<Folded> {
    same(args).then(|| args.operands[0].into())
}
