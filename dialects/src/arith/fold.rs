//! Identities of integer arithmetic that hold whatever the operands are. Folding of constants is derived from the ops'
//! meaning.

use super::{AddIOp, SubIOp};
use gradus_ir::{Attr, AttrData, Context, Folded, Int, OpArgs, OpDecl, Type, Value};

/// The one integer that a constant is, everywhere if it is a vector or tensor.
pub(super) fn uniform(ctx: &Context, attr: Option<Attr>) -> Option<i64> {
    match ctx.attr_data(attr?) {
        AttrData::Integer { value: Int::Small(v), .. } => Some(*v),
        AttrData::Dense(dense) if dense.splat => {
            let ty = ctx.element_type(dense.ty);
            let width = ctx.int_width(ty).filter(|w| *w <= 64)?;
            let mut bytes = [0; 8];
            bytes[..dense.data.len().min(8)].copy_from_slice(&dense.data[..dense.data.len().min(8)]);
            let shift = 64 - width;
            Some(i64::from_le_bytes(bytes).checked_shl(shift)?.checked_shr(shift)?)
        }
        _ => None,
    }
}

/// The constant of type `ty` that is `value` everywhere.
pub(super) fn splat(ctx: &Context, ty: Type, value: i64) -> Option<Attr> {
    let elem = ctx.element_type(ty);
    if !ctx.is_shaped(ty) {
        return Some(ctx.int_attr(ty, value));
    }
    ctx.static_shape(ty)?;
    let size = (ctx.int_width(elem)? as usize).div_ceil(8);
    let stored = if elem == Type::I1 { value & 1 } else { value };
    let data = stored.to_le_bytes().get(..size)?.to_vec().into();
    Some(ctx.attr(AttrData::Dense(Box::new(gradus_ir::Dense { ty, splat: true, data }))))
}

fn is(args: &OpArgs<'_>, constant: Option<Attr>, value: i64) -> bool {
    uniform(args.ctx(), constant) == Some(value)
}

fn same(args: &OpArgs<'_>) -> bool {
    args.operands[0] == args.operands[1]
}

fn constant(args: &OpArgs<'_>, value: i64) -> Option<Folded> {
    splat(args.ctx(), *args.result_types.first()?, value).map(Folded::from)
}

/// x + 0 = x, (x - y) + y = x
pub(super) fn addi(args: &OpArgs<'_>, c: &[Option<Attr>]) -> Option<Folded> {
    let m = args.module;
    let less = |x: Value, y: Value| SubIOp::defining(m, x).filter(|d| d.rhs(m) == y).map(|d| d.lhs(m));
    let [left, right] = *args.operands else { return None };
    without_zero(args, c).or_else(|| less(left, right).or_else(|| less(right, left)).map(Folded::from))
}

/// x op 0 = x, 0 op x = x
fn without_zero(args: &OpArgs<'_>, c: &[Option<Attr>]) -> Option<Folded> {
    match () {
        () if is(args, c[1], 0) => Some(args.operands[0].into()),
        () if is(args, c[0], 0) => Some(args.operands[1].into()),
        () => None,
    }
}

/// x - 0 = x, x - x = 0, (x + y) - y = x
pub(super) fn subi(args: &OpArgs<'_>, c: &[Option<Attr>]) -> Option<Folded> {
    match () {
        () if is(args, c[1], 0) => Some(args.operands[0].into()),
        () if same(args) => constant(args, 0),
        () => {
            let sum = AddIOp::defining(args.module, args.operands[0])?;
            other(args.operands[1], sum.lhs(args.module), sum.rhs(args.module)).map(Folded::from)
        }
    }
}

/// The one of `a` and `b` that is not `one`, if the other is.
fn other(one: Value, a: Value, b: Value) -> Option<Value> {
    match () {
        () if one == a => Some(b),
        () if one == b => Some(a),
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
    if same(args) { constant(args, 0) } else { without_zero(args, c) }
}

/// op(x, x) = x
pub(super) fn same_operands(args: &OpArgs<'_>, _: &[Option<Attr>]) -> Option<Folded> {
    same(args).then(|| args.operands[0].into())
}
