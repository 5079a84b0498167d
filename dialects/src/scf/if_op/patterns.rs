//! Canonicalization of `scf.if`.

use crate::arith::SelectOp;
use crate::scf::if_op::negated;
use crate::scf::{IfOp, is_outside, uses_inside};
use gradus_ir::rewrite::forwarding;
use gradus_ir::{
    Attr, Block, InsertPoint, Module, Op, OpDecl, OpState, Pattern, PatternRewriter, Region, Rewriter, Type, Value,
};
use std::collections::HashMap;

pub const PATTERNS: &[Pattern] = &[
    forwarding::FORWARD,
    forwarding::MERGE,
    forwarding::DROP,
    Pattern { name: "known-condition", run: known_condition },
    Pattern { name: "condition-is-known-inside", run: propagate_condition },
    Pattern { name: "select-instead", run: select_instead },
    Pattern { name: "drop-empty-else", run: drop_empty_else },
    Pattern { name: "swap-for-negated-condition", run: swap_for_negated },
    Pattern { name: "combine-row", run: combine_row },
    Pattern { name: "combine-nested", run: combine_nested },
];

fn known_condition(rw: &mut Rewriter<'_>, op: Op) -> bool {
    let m = rw.module();
    let this = IfOp(op);
    let Some(condition) = m.constant_int(this.condition(m)) else { return false };
    if condition == 0 && this.else_block(m).is_none() {
        rw.erase(op);
        return true;
    }
    let region = if condition != 0 { this.then_region(m) } else { this.else_region(m) };
    rw.replace_with_region(op, region, &[]);
    true
}

fn propagate_condition(rw: &mut Rewriter<'_>, op: Op) -> bool {
    let m = rw.module();
    let this = IfOp(op);
    let condition = this.condition(m);
    let mut changed = false;
    for (region, value) in [(this.then_region(m), Attr::TRUE), (this.else_region(m), Attr::FALSE)] {
        let uses = uses_inside(rw.module(), condition, region);
        if uses.is_empty() {
            continue;
        }
        let Some(constant) = rw.constant(op, value, Type::I1) else { continue };
        changed = true;
        for (user, i) in uses {
            rw.modify(user, |m| m.set_operand(user, i, constant));
        }
    }
    changed
}

/// Replaces results whose yielded values are defined outside by `arith.select`.
fn select_instead(rw: &mut Rewriter<'_>, op: Op) -> bool {
    let m = rw.module();
    let this = IfOp(op);
    let (condition, loc, [yes, no]) = (this.condition(m), m.loc(op), this.yielded(m));
    let pairs = m.results(op).zip(yes.iter().zip(no)).map(|(result, (&yes, &no))| (result, yes, no));
    let outside = pairs
        .filter(|&(result, yes, no)| !m.is_unused(result) && is_outside(m, yes, op) && is_outside(m, no, op))
        .collect::<Vec<_>>();
    for &(result, yes, no) in &outside {
        let ty = rw.module().value_type(result);
        let value =
            rw.build(InsertPoint::Before(op), |b| SelectOp::build(b, loc, condition, yes, no, &[ty]).result(b.module));
        rw.replace_value(result, &[value]);
    }
    !outside.is_empty()
}

/// Whether the block holds only a terminator.
fn is_empty(m: &Module, block: Block) -> bool {
    m.first_op(block) == m.last_op(block)
}

fn drop_empty_else(rw: &mut Rewriter<'_>, op: Op) -> bool {
    let m = rw.module();
    let empty = IfOp(op).else_block(m).filter(|&b| m.num_results(op) == 0 && is_empty(m, b));
    if let Some(block) = empty {
        rw.erase_block(block);
    }
    empty.is_some()
}

fn swap_for_negated(rw: &mut Rewriter<'_>, op: Op) -> bool {
    let m = rw.module();
    let Some(condition) = negated(m, IfOp(op).condition(m)).filter(|_| IfOp(op).else_block(m).is_some()) else {
        return false;
    };
    rw.modify(op, |m| {
        m.set_operand(op, 0, condition);
        m.swap_regions(op, 0, 1);
    });
    true
}

/// Merges consecutive conditionals on the same or the negated condition.
fn combine_row(rw: &mut Rewriter<'_>, op: Op) -> bool {
    let row = row(rw.module(), IfOp(op));
    if row.len() < 2 {
        return false;
    }
    forward_in_row(rw, &row);
    let m = rw.module();
    let last = row[row.len() - 1].0;
    let mut state = OpState::like(m, op);
    state.operands.push(IfOp(op).condition(m));
    state.result_types = row.iter().flat_map(|(op, _)| m.results(op.0)).map(|v| m.value_type(v)).collect();
    let mut n = m.num_results(op);
    // All results are available at the last one.
    let whole = rw.rebuild_before(op, last.0, state, (0..n).map(|i| (i, i)));
    for side in [0, 1] {
        let m = rw.module();
        let sources: Vec<Region> = row[1..].iter().map(|(part, opposite)| m.regions(part.0)[side ^ opposite]).collect();
        let dest = m.regions(whole)[side];
        append_regions(rw, dest, &sources);
    }
    for (part, _) in row.into_iter().skip(1) {
        let results: Vec<Value> = rw.module().results(whole).skip(n).take(rw.module().num_results(part.0)).collect();
        n += results.len();
        rw.replace(part.0, &results);
    }
    true
}

/// Returns the directly consecutive conditionals from `first` on with the same condition (0) or its negation (1).
fn row(m: &Module, first: IfOp) -> Vec<(IfOp, usize)> {
    let condition = first.condition(m);
    let opposite = negated(m, condition);
    let next = |at: &(IfOp, usize)| {
        let next = IfOp::cast(m, m.next_op(at.0.0)?)?;
        let own = next.condition(m);
        let is_opposite = opposite == Some(own) || negated(m, own) == Some(condition);
        (own == condition || is_opposite).then_some((next, usize::from(own != condition)))
    };
    std::iter::successors(Some((first, 0)), next).collect()
}

/// Forwards results of earlier conditionals into the matching regions of later ones.
fn forward_in_row(rw: &mut Rewriter<'_>, row: &[(IfOp, usize)]) {
    let m = rw.module();
    let block = m.parent_block(row[0].0.0);
    let place: HashMap<Op, usize> = row.iter().map(|(op, opposite)| (op.0, *opposite)).collect();
    // The region of the row's first op that is executed together with the given op.
    let side = |m: &Module, user: Op| {
        let (mut at, mut region) = (user, None);
        while m.parent_block(at) != block {
            region = m.parent_region(m.parent_block(at)?);
            at = m.region_op(region?)?;
        }
        let side = m.regions(at).iter().position(|&r| Some(r) == region)?;
        Some(side ^ place.get(&at)?)
    };
    for &(op, opposite) in row {
        for (i, result) in rw.module().results(op.0).enumerate() {
            let m = rw.module();
            let uses = m.uses(result).filter_map(|(user, operand)| Some((user, operand, side(m, user)?)));
            for (user, operand, side) in uses.collect::<Vec<_>>() {
                let value = op.yielded(rw.module())[side ^ opposite][i];
                rw.modify(user, |m| m.set_operand(user, operand, value));
            }
        }
    }
}

/// Appends the ops of `sources` to `dest`, and concatenates the yielded values. Any region may be empty. Linear: the
/// yielded values are set once.
fn append_regions(rw: &mut Rewriter<'_>, dest: Region, sources: &[Region]) {
    let mut values: Vec<Value> = Vec::new();
    for &region in [dest].iter().chain(sources) {
        let m = rw.module();
        let Some(block) = m.entry(region) else { continue };
        values.extend_from_slice(m.operands(m.last_op(block).expect("is a yield")));
        match m.entry(dest) {
            None => rw.inline_region(region, dest, None),
            Some(home) if home != block => {
                let earlier = m.last_op(home).expect("is a yield");
                rw.erase(earlier);
                rw.merge_blocks(block, home, &[]);
            }
            Some(_) => {}
        }
    }
    let m = rw.module();
    if let Some(last) = m.entry(dest).and_then(|home| m.last_op(home)) {
        rw.modify(last, |m| m.set_operands(last, &values));
    }
}

/// Merges a conditional nested directly in another with equal else results, into one with the conjunction of
/// conditions.
fn combine_nested(rw: &mut Rewriter<'_>, op: Op) -> bool {
    let m = rw.module();
    let this = IfOp(op);
    let Some(inner) = m.first_op(this.then_block(m)).and_then(|first| IfOp::cast(m, first)) else { return false };
    let alone = m.next_op(inner.0) == m.last_op(this.then_block(m));
    let idle = |op: IfOp| op.else_block(m).is_none_or(|b| is_empty(m, b));
    if !alone || !idle(this) || !idle(inner) {
        return false;
    }
    let ([yes, no], [_, inner_no]) = (this.yielded(m), inner.yielded(m));
    let same_otherwise = yes.iter().zip(no).all(|(&yes, &no)| {
        let result = m.results(inner.0).position(|result| result == yes);
        result.is_some_and(|i| inner_no[i] == no)
    });
    if !same_otherwise {
        return false;
    }
    // The inner condition may be poison where it is not evaluated; a plain conjunction would spread that.
    let (a, b, loc) = (this.condition(m), inner.condition(m), m.loc(op));
    let both = rw.build(InsertPoint::Before(op), |builder| {
        SelectOp::build(builder, loc, a, b, a, &[Type::I1]).result(builder.module)
    });
    rw.modify(op, |m| m.set_operand(op, 0, both));
    let region = inner.then_region(rw.module());
    rw.replace_with_region(inner.0, region, &[]);
    true
}
