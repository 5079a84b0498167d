//! What becomes simpler about `scf.if`.

use super::if_op::negated;
use super::{IfOp, is_outside, uses_inside};
use crate::arith::SelectOp;
use gradus_ir::rewrite::forwarding;
use gradus_ir::{Attr, Block, Module, Op, OpDecl, OpState, Pattern, Region, Rewriter, Type, Value, ValueList};

pub const PATTERNS: &[Pattern] = &[
    forwarding::FORWARD,
    forwarding::MERGE,
    forwarding::DROP,
    Pattern { name: "known-condition", run: known_condition },
    Pattern { name: "condition-is-known-inside", run: propagate_condition },
    Pattern { name: "select-instead", run: select_instead },
    Pattern { name: "drop-empty-else", run: drop_empty_else },
    Pattern { name: "swap-for-negated-condition", run: swap_for_negated },
    Pattern { name: "combine-with-previous", run: combine_with_previous },
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

/// A result that is one of two values from outside is selected.
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
        let value = rw.build_before(op, |b| SelectOp::build(b, loc, condition, yes, no, &[ty]).result(b.module));
        rw.replace_uses(result, value);
    }
    !outside.is_empty()
}

/// Whether the block does nothing but end.
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

/// Two in a row on the same or the opposite condition are one.
fn combine_with_previous(rw: &mut Rewriter<'_>, op: Op) -> bool {
    let m = rw.module();
    let Some(first) = m.prev_op(op).and_then(|prev| IfOp::cast(m, prev)) else { return false };
    let (a, b) = (first.condition(m), IfOp(op).condition(m));
    let opposite = negated(m, a) == Some(b) || negated(m, b) == Some(a);
    if a != b && !opposite {
        return false;
    }
    let ways = if opposite { [1, 0] } else { [0, 1] };
    // In the second, the results of the first are what that yields there.
    for (from, to) in ways.into_iter().enumerate() {
        let region = rw.module().regions(op)[to];
        let yielded: ValueList = first.yielded(rw.module())[from].into();
        let results: Vec<Value> = rw.module().results(first.0).collect();
        for (result, value) in results.into_iter().zip(yielded) {
            for (user, i) in uses_inside(rw.module(), result, region) {
                rw.modify(user, |m| m.set_operand(user, i, value));
            }
        }
    }
    let m = rw.module();
    let mut state = OpState::like(m, first.0);
    state.operands.push(a);
    state.result_types = m.results(first.0).chain(m.results(op)).map(|v| m.value_type(v)).collect();
    let n = m.num_results(first.0);
    // The second is where the results of both are known.
    let whole = rw.rebuild_before(first.0, op, state, (0..n).map(|i| (i, i)));
    for (from, to) in ways.into_iter().enumerate() {
        let (dest, source) = (rw.module().regions(whole)[from], rw.module().regions(op)[to]);
        append_region(rw, dest, source);
    }
    let results: Vec<Value> = rw.module().results(whole).skip(n).collect();
    rw.replace(op, &results);
    true
}

/// Does what `source` does after what `dest` does, and yields what both yield. Either may have no block.
fn append_region(rw: &mut Rewriter<'_>, dest: Region, source: Region) {
    let m = rw.module();
    let Some(block) = m.entry(source) else { return };
    let Some(home) = m.entry(dest) else { return rw.inline_region(source, dest) };
    let (first, last) = (m.last_op(home).expect("is a yield"), m.last_op(block).expect("is a yield"));
    let values: Vec<Value> = m.operands(first).iter().chain(m.operands(last)).copied().collect();
    rw.erase(first);
    rw.merge_blocks(block, home, &[]);
    rw.modify(last, |m| m.set_operands(last, &values));
}

/// One that holds nothing but another, when both do the same otherwise, is one on both conditions.
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
    // The second condition may be poison where it is not looked at, which a conjunction would spread.
    let (a, b, loc) = (this.condition(m), inner.condition(m), m.loc(op));
    let both =
        rw.build_before(op, |builder| SelectOp::build(builder, loc, a, b, a, &[Type::I1]).result(builder.module));
    rw.modify(op, |m| m.set_operand(op, 0, both));
    let region = inner.then_region(rw.module());
    rw.replace_with_region(inner.0, region, &[]);
    true
}
