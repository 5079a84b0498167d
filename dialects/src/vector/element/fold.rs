//! Folds of `extract` and `insert`.

use super::{InsertOp, insert, positions};
use crate::vector::data::fold_small;
use crate::vector::reshape::splat_of;
use crate::vector::types::without_leading;
use gradus_ir::{Attr, AttrData, Folded, OpArgs, OpDecl};

pub(super) fn fold_extract(args: &OpArgs<'_>, constants: &[Option<Attr>]) -> Option<Folded> {
    let (m, ctx, op) = (args.module, args.ctx(), args.op?);
    let source = args.operands[0];
    let at = positions(m, op);
    if at.is_empty() && m.value_type(source) == m.value_type(m.result(op, 0)) {
        return Some(source.into());
    }
    // Equal elements are interchangeable.
    if let Some(AttrData::Dense(dense)) = constants[0].map(|c| ctx.attr_data(c))
        && dense.splat
    {
        let ty = without_leading(ctx, dense.ty, at.len());
        let scalar = crate::tensor::data::constant_element(ctx, constants[0]?, 0)?;
        return ctx.splat_attr(ty, scalar).map(Folded::from);
    }
    if let Some(insert) = InsertOp::defining(m, source)
        && positions(m, insert.0) == at
        && m.value_type(insert.value_to_store(m)) == m.value_type(m.result(op, 0))
    {
        return Some(insert.value_to_store(m).into());
    }
    let scalar = !ctx.is_shaped(m.value_type(m.result(op, 0)));
    splat_of(m, source).filter(|_| scalar).map(Folded::from)
}

pub(super) fn fold_insert(args: &OpArgs<'_>, constants: &[Option<Attr>]) -> Option<Folded> {
    let (m, op) = (args.module, args.op?);
    let this = InsertOp(op);
    let (value, dest) = (this.value_to_store(m), this.dest(m));
    if m.value_type(value) == m.value_type(dest) && positions(m, op).is_empty() {
        return Some(value.into());
    }
    // The destination is a splat of the inserted scalar.
    let same = |scalar| scalar == value || splat_of(m, value) == Some(scalar);
    if splat_of(m, dest).is_some_and(same) {
        return Some(dest.into());
    }
    fold_small(args, constants, insert)
}
