//! `cf`: branches between the blocks of a region, and assertions.

mod branch;
mod cond;
mod switch;

pub use branch::{AssertOp, BranchOp};
pub use cond::CondBranchOp;
pub use switch::SwitchOp;

use gradus_ir::{Block, Def, Dialect, InsertPoint, Module, Op, OpDecl, PatternRewriter, Rewriter, Value, ValueList};

/// A successor with its block arguments.
type Target = (Block, ValueList);

/// Returns successor `i` of a branch with its operands.
fn target(m: &Module, op: Op, i: usize) -> Target {
    let range = m.info(op).and_then(|info| info.successor_operands).map_or(0..0, |f| f(m, op, i));
    (m.successors(op)[i], m.operands(op)[range].into())
}

/// Replaces a branch by an unconditional one.
fn replace_by_branch(rw: &mut Rewriter<'_>, op: Op, (dest, values): &Target) {
    let loc = rw.module().loc(op);
    rw.build(InsertPoint::Before(op), |b| BranchOp::build(b, loc, values, *dest, &[]));
    rw.erase(op);
}

/// Returns the branch of a block that holds nothing else.
fn only_branch(m: &Module, block: Block) -> Option<BranchOp> {
    BranchOp::cast(m, m.first_op(block)?)
}

/// Whether the block starts an infinite chain of blocks that only branch. Long chains count as infinite.
fn never_ends(m: &Module, block: Block) -> bool {
    let mut row = std::iter::successors(Some(block), |&b| only_branch(m, b).map(|branch| branch.dest(m)));
    row.nth(64).is_some()
}

/// Returns the final destination of a branch to `target`, bypassing a block that only branches if its arguments have no
/// other uses.
fn pass_through(m: &Module, (block, values): &Target) -> Option<Target> {
    let branch = only_branch(m, *block)?;
    let dest = branch.dest(m);
    let args = m.block_args(*block);
    let only_here = |&arg: &Value| m.uses(arg).all(|(user, _)| user == branch.0);
    if !args.iter().all(only_here) || never_ends(m, *block) {
        return None;
    }
    let operands = branch.dest_operands(m);
    let carried = operands.iter().map(|&v| match m.def(v) {
        Def::Arg(of, i) if of == *block => values[i as usize],
        _ => v,
    });
    Some((dest, carried.collect()))
}

/// The dialect declaration.
pub const DIALECT: Dialect = Dialect {
    name: "cf",
    doc: "Control flow between blocks: branches, switches, assertions.",
    ops: &[AssertOp::INFO, BranchOp::INFO, CondBranchOp::INFO, SwitchOp::INFO],
    constant: None,
    ..Dialect::DEFAULT
};
