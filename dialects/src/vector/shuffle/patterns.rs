//! Canonicalization of `shuffle`.

use super::{InterleaveOp, ShuffleOp};
use crate::vector::reshape::{replace_by_broadcast, same_splat};
use crate::vector::types::{ints, shape, vector_type};
use gradus_ir::{Attr, Folded, Op, OpArgs, OpDecl, OpState, Pattern, PatternRewriter, Rewriter};

pub(super) const SHUFFLE: &[Pattern] = &[
    Pattern { name: "shuffle of splats", run: of_splats },
    Pattern { name: "shuffle to interleave", run: to_interleave },
    Pattern { name: "shuffle of one element", run: of_one },
];

/// Replaces an identity shuffle by the operand.
pub(super) fn fold_shuffle(args: &OpArgs<'_>, _: &[Option<Attr>]) -> Option<Folded> {
    let mask = args.ints("mask")?;
    let rows = shape(args.ctx(), args.operand_type(0)).first().copied()?;
    let in_order = |first: i64| mask.iter().zip(0..).all(|(&n, i)| n == first.saturating_add(i));
    let source = [0, 1].into_iter().zip([0, rows]).find(|&(_, first)| in_order(first))?.0;
    let same = args.result_types.first() == Some(&args.operand_type(source));
    same.then(|| args.operands[source].into())
}

/// Folds a shuffle of a splat.
fn of_splats(r: &mut Rewriter<'_>, op: Op) -> bool {
    let m = r.module();
    let this = ShuffleOp(op);
    let Some(scalar) = same_splat(m, this.v1(m), this.v2(m)) else { return false };
    replace_by_broadcast(r, op, scalar)
}

fn to_interleave(r: &mut Rewriter<'_>, op: Op) -> bool {
    let m = r.module();
    let (this, mask) = (ShuffleOp(op), ints(m, op, "mask"));
    let (a, b) = (m.value_type(this.v1(m)), m.value_type(this.v2(m)));
    let extents = shape(&m.ctx, a);
    let n = extents.first().copied().unwrap_or(1);
    let in_turn = |(i, &row): (usize, &i64)| row == i as i64 / 2 + if i % 2 == 0 { 0 } else { n };
    let fits = a == b && extents.len() <= 1 && mask.len().is_multiple_of(2) && mask.len() as i64 / 2 == n;
    if !fits || !mask.iter().enumerate().all(in_turn) {
        return false;
    }
    let mut state = OpState::new(&m.ctx, InterleaveOp::INFO.name, m.loc(op));
    state.operand_group(&[this.v1(m)]);
    state.operand_group(&[this.v2(m)]);
    state.result_types.push(vector_type(&m.ctx, &[2 * n], &[false], m.ctx.element_type(a)));
    r.replace_with(op, state).is_ok()
}

/// Extracts the element of a 0-D vector.
fn of_one(r: &mut Rewriter<'_>, op: Op) -> bool {
    let m = r.module();
    let (this, mask) = (ShuffleOp(op), ints(m, op, "mask"));
    if !shape(&m.ctx, m.value_type(this.v1(m))).is_empty() {
        return false;
    }
    let source = match mask[..] {
        [0] => this.v1(m),
        [1] => this.v2(m),
        _ => return false,
    };
    replace_by_broadcast(r, op, source)
}
