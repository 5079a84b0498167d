//! `cf.cond_br`.

use super::{Target, pass_through, replace_by_branch, target};
use crate::arith::SelectOp;
use crate::constraint::{ANY, BOOL, I32_ARRAY};
use crate::ub::UnreachableOp;
use gradus_ir::eval::{Datum, Trap};
use gradus_ir::{
    Attr, AttrKind, AttrText, Block, InsertPoint, Module, Op, OpArgs, OpDecl, Pattern, PatternRewriter, Rewriter,
    Traits, Type, Value, Violation, op,
};
use std::ops::Range;

/// Branch weights, such as `[1, 2]`.
pub const WEIGHTS: AttrKind = AttrKind { text: AttrText::Ints(Type::I32), ..I32_ARRAY };

/// Conditional branch.
///
/// ```mlir
/// func.func @f(%c: i1, %x: i32) -> i32 {
///   cf.cond_br %c weights([90, 10]), ^yes(%x : i32), ^no
/// ^yes(%y: i32):
///   return %y : i32
/// ^no:
///   return %x : i32
/// }
/// ```
#[op(
    "cf.cond_br",
    traits = Traits::TERMINATOR.and(Traits::OPERAND_SEGMENTS),
    verify = verify,
    jump = jump,
    successor_operands = carried,
    patterns = &[
        Pattern { name: "known-condition", run: known_condition },
        Pattern { name: "branch-past-block", run: branch_past_block },
        Pattern { name: "one-destination", run: one_destination },
        Pattern { name: "condition-is-known-in-destination", run: propagate_condition },
        Pattern { name: "avoid-unreachable", run: avoid_unreachable },
    ],
    format = "$condition (`weights` `(` $branch_weights^ `)`)? `,`
        $trueDest (`(` $trueDestOperands^ `:` type($trueDestOperands) `)`)? `,`
        $falseDest (`(` $falseDestOperands^ `:` type($falseDestOperands) `)`)? attr-dict"
)]
pub struct CondBranchOp {
    /// Condition.
    condition: Operand<BOOL>,
    /// Block arguments of the true destination.
    #[name = "trueDestOperands"]
    true_operands: Operands<ANY>,
    /// Block arguments of the false destination.
    #[name = "falseDestOperands"]
    false_operands: Operands<ANY>,
    /// Expected frequencies of the two destinations.
    branch_weights: OptAttribute<WEIGHTS>,
    /// Destination if the condition is true.
    #[name = "trueDest"]
    true_dest: Successor,
    /// Destination if the condition is false.
    #[name = "falseDest"]
    false_dest: Successor,
}

fn verify(m: &Module, op: Op) -> Result<(), Violation> {
    let Some(weights) = CondBranchOp(op).branch_weights(m).and_then(|a| m.ctx.as_ints(a)) else { return Ok(()) };
    if weights.is_empty() {
        return Ok(());
    }
    if weights.len() != 2 {
        return Err(
            format!("expects number of branch weights to match number of successors: {} vs 2", weights.len()).into()
        );
    }
    if weights.iter().all(|&w| w == 0) { Err("branch weights cannot all be zero".into()) } else { Ok(()) }
}

fn jump(_: &OpArgs<'_>, data: &[Datum]) -> Result<usize, Trap> {
    Ok(usize::from(data[0].decide()? == 0))
}

fn carried(m: &Module, op: Op, i: usize) -> Range<usize> {
    let to_true = CondBranchOp(op).true_operands(m).len();
    if i == 0 { 1..1 + to_true } else { 1 + to_true..m.operands(op).len() }
}

fn targets(m: &Module, op: Op) -> [Target; 2] {
    [target(m, op, 0), target(m, op, 1)]
}

fn known_condition(rw: &mut Rewriter<'_>, op: Op) -> bool {
    let m = rw.module();
    let Some(condition) = m.constant_int(CondBranchOp(op).condition(m)) else { return false };
    let target = target(m, op, usize::from(condition == 0));
    replace_by_branch(rw, op, &target);
    true
}

fn branch_past_block(rw: &mut Rewriter<'_>, op: Op) -> bool {
    let m = rw.module();
    let old = targets(m, op);
    let new = [pass_through(m, &old[0]), pass_through(m, &old[1])];
    if new.iter().all(Option::is_none) {
        return false;
    }
    let condition = CondBranchOp(op).condition(m);
    let [yes, no] = [0, 1].map(|i| new[i].as_ref().unwrap_or(&old[i]));
    let operands: Vec<Value> =
        [condition].into_iter().chain(yes.1.iter().copied()).chain(no.1.iter().copied()).collect();
    let sizes = m.ctx.i32_array_attr(&[1, yes.1.len() as i32, no.1.len() as i32]);
    rw.modify(op, |m| {
        m.set_operands(op, &operands);
        m.set_successors(op, &[yes.0, no.0]);
        m.set_attr(op, "operandSegmentSizes", Some(sizes));
    });
    true
}

/// Replaces a branch with equal destinations by selects and an unconditional branch.
fn one_destination(rw: &mut Rewriter<'_>, op: Op) -> bool {
    let m = rw.module();
    let [(dest, yes), (other, no)] = targets(m, op);
    if dest != other || yes != no && m.num_branches_to(dest) != 2 {
        return false;
    }
    let (condition, loc) = (CondBranchOp(op).condition(m), m.loc(op));
    let types: Vec<Type> = yes.iter().map(|&v| m.value_type(v)).collect();
    let chosen = rw.build(InsertPoint::Before(op), |b| {
        let choose = |(i, &ty): (usize, &Type)| {
            let same = yes[i] == no[i];
            if same { yes[i] } else { SelectOp::build(b, loc, condition, yes[i], no[i], &[ty]).result(b.module) }
        };
        types.iter().enumerate().map(choose).collect()
    });
    replace_by_branch(rw, op, &(dest, chosen));
    true
}

/// Replaces the condition by its value in destinations with this branch as only predecessor.
fn propagate_condition(rw: &mut Rewriter<'_>, op: Op) -> bool {
    let m = rw.module();
    let condition = CondBranchOp(op).condition(m);
    let dests = [(CondBranchOp(op).true_dest(m), Attr::TRUE), (CondBranchOp(op).false_dest(m), Attr::FALSE)];
    let mut changed = false;
    for (dest, value) in dests {
        let m = rw.module();
        let users = users_in(m, dest, condition);
        if m.num_branches_to(dest) != 1 || users.is_empty() {
            continue;
        }
        let Some(constant) = rw.constant(op, value, Type::I1) else { continue };
        changed = true;
        for (user, i) in users {
            rw.modify(user, |m| m.set_operand(user, i, constant));
        }
    }
    changed
}

fn users_in(m: &Module, block: Block, value: Value) -> Vec<(Op, usize)> {
    let operands = |op: Op| m.operands(op).iter().enumerate().map(move |(i, &v)| (op, i, v));
    m.block_ops(block).flat_map(operands).filter(|&(_, _, v)| v == value).map(|(op, i, _)| (op, i)).collect()
}

/// Replaces a branch to an unreachable block by a branch to the other one.
fn avoid_unreachable(rw: &mut Rewriter<'_>, op: Op) -> bool {
    let m = rw.module();
    let [yes, no] = targets(m, op);
    let unreachable =
        |target: &Target| m.first_op(target.0).is_some_and(|first| UnreachableOp::cast(m, first).is_some());
    let way = match (unreachable(&yes), unreachable(&no)) {
        (true, _) => no,
        (_, true) => yes,
        _ => return false,
    };
    replace_by_branch(rw, op, &way);
    true
}
