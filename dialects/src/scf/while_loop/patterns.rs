//! Canonicalization of `scf.while`.

use crate::arith::CmpIOp;
use crate::scf::{IfOp, WhileOp, is_outside, uses_inside};
use gradus_ir::effects::has_map;
use gradus_ir::rewrite::forwarding;
use gradus_ir::{
    Attr, Block, InsertPoint, Module, Op, OpDecl, OpState, Pattern, PatternRewriter, Rewriter, Type, Value,
};

pub const PATTERNS: &[Pattern] = &[
    forwarding::FORWARD,
    forwarding::MERGE,
    forwarding::DROP,
    Pattern { name: "condition-holds-after", run: condition_holds_after },
    Pattern { name: "comparison-holds-after", run: comparison_holds_after },
    Pattern { name: "move-if-after", run: move_if_after },
    Pattern { name: "pass-in-order", run: pass_in_order },
];

/// Returns the arguments of the after region paired with the values that the condition passes.
fn passed(m: &Module, op: WhileOp) -> Vec<(Value, Value)> {
    let after = m.block_args(m.only_block(op.after(m)));
    after.iter().copied().zip(op.condition(m).args(m)).collect()
}

/// Replaces the condition by true in the after region.
fn condition_holds_after(rw: &mut Rewriter<'_>, op: Op) -> bool {
    let m = rw.module();
    let condition = WhileOp(op).condition(m).condition(m);
    let same = passed(m, WhileOp(op)).into_iter().filter(|&(arg, value)| value == condition && !m.is_unused(arg));
    let same: Vec<Value> = same.map(|(arg, _)| arg).collect();
    if same.is_empty() {
        return false;
    }
    let Some(holds) = rw.constant(op, Attr::TRUE, Type::I1) else { return false };
    same.into_iter().for_each(|arg| rw.replace_value(arg, &[holds]));
    true
}

/// The negation of each predicate.
const OPPOSITE: [i64; 10] = [1, 0, 5, 4, 3, 2, 9, 8, 7, 6];

/// Replaces comparisons in the after region that equal or negate the loop condition.
fn comparison_holds_after(rw: &mut Rewriter<'_>, op: Op) -> bool {
    let m = rw.module();
    let Some(comparison) = CmpIOp::defining(m, WhileOp(op).condition(m).condition(m)) else { return false };
    let predicate = |op: CmpIOp| op.predicate(m).and_then(|a| m.ctx.as_int(a)).unwrap_or(0);
    let sides = [comparison.lhs(m), comparison.rhs(m)];
    let mut known = Vec::new();
    for (arg, value) in passed(m, WhileOp(op)) {
        for side in (0..2).filter(|&side| sides[side] == value && is_outside(m, sides[1 - side], op)) {
            for (user, i) in m.uses(arg).filter(|&(_, i)| i == side) {
                let Some(other) = CmpIOp::cast(m, user).filter(|_| m.operands(user)[1 - i] == sides[1 - side]) else {
                    continue;
                };
                if predicate(other) == predicate(comparison) {
                    known.push((user, Attr::TRUE));
                } else if OPPOSITE.get(predicate(comparison) as usize) == Some(&predicate(other)) {
                    known.push((user, Attr::FALSE));
                }
            }
        }
    }
    let mut changed = false;
    for (user, attr) in known {
        let result = rw.module().result(user, 0);
        if rw.module().is_unused(result) || rw.module().value_type(result) != Type::I1 {
            continue;
        }
        let Some(value) = rw.constant(op, attr, Type::I1) else { continue };
        rw.replace_value(result, &[value]);
        changed = true;
    }
    changed
}

/// Removes a permutation of arguments passed by the condition.
fn pass_in_order(rw: &mut Rewriter<'_>, op: Op) -> bool {
    let m = rw.module();
    let this = WhileOp(op);
    let (condition, before) = (this.condition(m), m.only_block(this.before(m)));
    let (args, passed) = (m.block_args(before).to_vec(), condition.args(m));
    // Position of each argument among the passed values.
    let order: Vec<usize> = args.iter().filter_map(|arg| passed.iter().position(|v| v == arg)).collect();
    if order.len() != args.len() || passed.len() != args.len() || order.is_sorted() {
        return false;
    }
    let after = m.only_block(this.after(m));
    let old = m.block_args(after).to_vec();
    let new: Vec<Value> = order.iter().map(|&i| rw.add_block_arg(after, old[i])).collect();
    for (&i, &value) in order.iter().zip(&new) {
        rw.replace_value(old[i], &[value]);
    }
    rw.shrink_block_args(after, |i| i >= old.len());
    let operands: Vec<Value> = [condition.condition(rw.module())].into_iter().chain(args.iter().copied()).collect();
    rw.modify(condition.0, |m| m.set_operands(condition.0, &operands));
    let m = rw.module();
    let mut state = OpState::like(m, op);
    state.operands = m.operands(op).into();
    state.result_types = args.iter().map(|&v| m.value_type(v)).collect();
    rw.rebuild(op, state, order.iter().enumerate().map(|(new, &old)| (old, new)));
    true
}

/// Rotates a conditional that is executed last in the before region, on the loop condition, to the start of the after
/// region.
fn move_if_after(rw: &mut Rewriter<'_>, op: Op) -> bool {
    let m = rw.module();
    let this = WhileOp(op);
    let (before, condition) = (m.only_block(this.before(m)), this.condition(m));
    let Some(last) = m.prev_op(condition.0).and_then(|last| IfOp::cast(m, last)) else { return false };
    let idle = last.else_block(m).is_none_or(|b| m.first_op(b) == m.last_op(b));
    let only_passed = m.results(last.0).all(|result| m.uses(result).all(|(user, i)| user == condition.0 && i > 0));
    if last.condition(m) != condition.condition(m) || !idle || !only_passed {
        return false;
    }
    let [yes, no] = last.yielded(m).map(<[Value]>::to_vec);
    let results: Vec<Value> = m.results(last.0).collect();
    let after = m.only_block(this.after(m));
    let args = m.block_args(after).to_vec();
    let mut passed: Vec<Value> = condition.args(m).to_vec();
    let mut replaced = Vec::new();
    for (i, value) in passed.iter_mut().enumerate() {
        if let Some(result) = results.iter().position(|result| result == value) {
            *value = no[result];
            replaced.push((args[i], yes[result]));
        }
    }
    let old = passed.len();
    let captured = captured(m, before, last, &yes);
    if m.block_ops(last.then_block(m)).flat_map(|op| m.ops_under(op)).any(|op| restricts_operands(m, op, &captured)) {
        return false;
    }
    let at = |value: &Value, passed: &mut Vec<Value>| {
        passed.iter().position(|v| v == value).unwrap_or_else(|| {
            passed.push(*value);
            passed.len() - 1
        })
    };
    let captured: Vec<(Value, usize)> = captured.into_iter().map(|value| (value, at(&value, &mut passed))).collect();
    for (arg, value) in replaced {
        rw.replace_value(arg, &[value]);
    }
    move_body(rw, last, after);
    let mut args = args;
    for &value in &passed[old..] {
        args.push(rw.add_block_arg(after, value));
    }
    let region = this.after(rw.module());
    for (value, i) in captured {
        for (user, operand) in uses_inside(rw.module(), value, region) {
            rw.modify(user, |m| m.set_operand(user, operand, args[i]));
        }
    }
    let operands: Vec<Value> = [condition.condition(rw.module())].into_iter().chain(passed.iter().copied()).collect();
    rw.modify(condition.0, |m| m.set_operands(condition.0, &operands));
    rw.erase(last.0);
    let m = rw.module();
    let mut state = OpState::like(m, op);
    state.operands = m.operands(op).into();
    state.result_types = passed.iter().map(|&v| m.value_type(v)).collect();
    rw.rebuild(op, state, (0..old).map(|i| (i, i)));
    true
}

/// Whether an op uses one of the values in an affine map or set, which forbids arguments of such loops.
fn restricts_operands(m: &Module, op: Op, values: &[Value]) -> bool {
    has_map(m, op) && m.operands(op).iter().any(|v| values.contains(v))
}

/// Returns the values of the before region that the body of `last` uses or yields.
fn captured(m: &Module, before: Block, last: IfOp, yielded: &[Value]) -> Vec<Value> {
    let ops = m.block_ops(last.then_block(m)).flat_map(|op| m.ops_under(op));
    let used = ops.flat_map(|op| m.operands(op).iter().copied()).chain(yielded.iter().copied());
    let mut seen = std::collections::HashSet::new();
    used.filter(|&v| m.def_block(v) == Some(before) && seen.insert(v)).collect()
}

/// Moves the then branch of `last` to the start of a block.
fn move_body(rw: &mut Rewriter<'_>, last: IfOp, after: Block) {
    let m = rw.module();
    let first = m.first_op(after).expect("the block has a terminator");
    let body = last.then_block(m);
    let end = m.last_op(body);
    let ops: Vec<Op> = m.block_ops(body).filter(|&op| Some(op) != end).collect();
    ops.into_iter().for_each(|op| rw.move_op(op, InsertPoint::Before(first)));
}
