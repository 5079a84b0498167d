//! `cf.assert` and `cf.br`.

use super::{pass_through, target};
use crate::constraint::{ANY, BOOL, STRING};
use gradus_ir::eval::{Datum, Trap};
use gradus_ir::memory::Memory;
use gradus_ir::{Access, Effects, Module, Op, OpArgs, Pattern, PatternRewriter, Rewriter, Traits, op};
use std::ops::Range;

/// Runtime assertion: aborts with a message unless the condition holds.
///
/// ```mlir
/// cf.assert %c, "expected c to hold"
/// ```
#[op(
    "cf.assert",
    effects = Effects::Memory(&[(Access::Write, "")]),
    exec = exec_assert,
    patterns = &[Pattern { name: "drop-true-assert", run: drop_true_assert }],
    format = "$arg `,` $msg attr-dict"
)]
pub struct AssertOp {
    /// Condition.
    arg: Operand<BOOL>,
    /// Message of a failed assertion.
    msg: Attribute<STRING>,
}

/// Unconditional branch.
///
/// ```mlir
/// func.func @f(%x: i32) -> i32 {
///   cf.br ^next(%x : i32)
/// ^next(%y: i32):
///   return %y : i32
/// }
/// ```
#[op(
    "cf.br",
    traits = Traits::TERMINATOR,
    jump = |_, _| Ok(0),
    successor_operands = carried,
    patterns = &[
        Pattern { name: "merge-block-with-only-predecessor", run: merge_with_dest },
        Pattern { name: "branch-past-block", run: branch_past_block },
    ],
    format = "$dest (`(` $destOperands^ `:` type($destOperands) `)`)? attr-dict"
)]
pub struct BranchOp {
    /// Block arguments of the destination.
    #[name = "destOperands"]
    dest_operands: Operands<ANY>,
    /// Destination block.
    dest: Successor,
}

fn exec_assert(args: &OpArgs<'_>, data: &[Datum], _: &mut Memory) -> Result<Vec<Datum>, Trap> {
    if data[0].decide()? != 0 {
        return Ok(Vec::new());
    }
    let message = args.attr("msg").and_then(|a| args.ctx().as_str(a)).unwrap_or("");
    Err(Trap::Abort(format!("assertion failed: {message}")))
}

fn carried(m: &Module, op: Op, _: usize) -> Range<usize> {
    0..m.operands(op).len()
}

fn drop_true_assert(rw: &mut Rewriter<'_>, op: Op) -> bool {
    let m = rw.module();
    let holds = m.constant_int(AssertOp(op).arg(m)).is_some_and(|c| c != 0);
    if holds {
        rw.erase(op);
    }
    holds
}

/// Merges the destination into this block if the branch is its only predecessor.
fn merge_with_dest(rw: &mut Rewriter<'_>, op: Op) -> bool {
    let m = rw.module();
    let Some(home) = m.parent_block(op) else { return false };
    let (dest, values) = target(m, op, 0);
    let entry = m.parent_region(dest).and_then(|r| m.entry(r));
    if m.num_branches_to(dest) != 1 || dest == home || entry == Some(dest) {
        return false;
    }
    rw.erase(op);
    rw.merge_blocks(dest, home, &values);
    true
}

fn branch_past_block(rw: &mut Rewriter<'_>, op: Op) -> bool {
    let Some((dest, values)) = pass_through(rw.module(), &target(rw.module(), op, 0)) else { return false };
    rw.modify(op, |m| {
        m.set_operands(op, &values);
        m.set_successor(op, 0, dest);
    });
    true
}
