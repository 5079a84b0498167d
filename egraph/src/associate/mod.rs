//! What is equal because an op is associative: `(x op y) op z = x op (y op z)`, without a rule that finds one step at a time.
//!
//! A region is what one op computes with the associative ops of its kind that it is made of: a list of operands. If order
//! matters, as in a chain of matrix products, each interval of operands becomes one class, with a node for each place where
//! it can be split: n³/6 nodes, each made once. If it does not, as in a sum, operands are sorted, so that equal sums become
//! one class in whatever order they were, and what two sums have in common becomes a class too; so do all parts of sums of
//! four, but not of longer ones: there would be 3ⁿ/2.
//!
//! | file | what it is |
//! |---|---|
//! | `region.rs` | which ops are in a region |
//! | `chain.rs` | where order matters |
//! | `sum.rs` | where it does not |

mod chain;
mod region;
mod sum;
#[cfg(test)]
mod tests;

use crate::graph::Children;
use crate::journal::By;
use crate::program::Program;
use egg::Id;
use gradus_ir::{Loc, Op, OpName, OpState};
use region::Regions;
use std::fmt;

/// An op whose operands were not grouped otherwise, since there are too many ways.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LeftOut {
    /// The op.
    pub op: Op,
    /// How many operands it has, with those of the ops that it is made of.
    pub operands: usize,
    /// How many nodes there would be.
    pub nodes: usize,
}

impl fmt::Display for LeftOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let LeftOut { operands, nodes, .. } = self;
        write!(
            f,
            "its {operands} operands are not grouped in other ways: that takes {nodes} nodes, more than the limit allows"
        )
    }
}

/// Makes equal what is associative, as long as there are no more nodes than `max_nodes`. With `approx`, also what is
/// associative but for rounding.
pub fn associate(program: &mut Program<'_>, approx: bool, max_nodes: usize) -> Vec<LeftOut> {
    let mut regions = Regions::of(program, approx);
    let mut left_out = Vec::new();
    let mut budget = max_nodes.saturating_sub(program.num_nodes());
    let mut sums = Vec::new();
    while let Some(root) = regions.next(program.m) {
        if root.commutative {
            sums.push(root);
            continue;
        }
        let nodes = chain::num_splits(root.operands);
        match regions.operands(program, root.op).filter(|_| nodes <= budget) {
            Some(operands) => {
                budget -= nodes;
                chain::split(program, root.op, &operands);
            }
            None => {
                regions.divide(program, root.op);
                left_out.extend(root.is_whole.then_some(LeftOut { op: root.op, operands: root.operands, nodes }));
            }
        }
    }
    sums.reverse();
    left_out.extend(sum::merge(program, &regions, &sums, &mut budget));
    if !program.graph.clean {
        program.graph.rebuild();
    }
    left_out
}

/// The class of two operands together.
fn pair(program: &mut Program<'_>, name: OpName, a: Id, b: Id) -> Option<Id> {
    let mut state = OpState::of(name, Loc::UNKNOWN);
    for id in [a, b] {
        state.operands.push(program.graph[id].data.value?);
    }
    let results: Children = smallvec::smallvec![a, b];
    match program.make(state, results)?[..] {
        [result] => Some(result),
        _ => None,
    }
}

/// Makes the classes of two nodes one if their types allow it.
fn unite(program: &mut Program<'_>, a: Id, b: Id) {
    if program.graph[a].data.ty == program.graph[b].data.ty {
        program.graph.analysis.journal.begin(By::Other("associativity"), 0, []);
        program.graph.union(a, b);
        program.graph.analysis.journal.end();
    }
}

fn is_constant(program: &Program<'_>, id: Id) -> bool {
    program.graph[id].data.constant.is_some()
}
