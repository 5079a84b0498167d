//! Associativity, `(x op y) op z = x op (y op z)`, without single rewrite steps.
//!
//! A *region* is a maximal tree of ops of one associative kind, as a list of operands. If order matters, as in a chain
//! of matrix products, each interval of operands is one class with a node per split: n³/6 nodes, each created once. If
//! the op is commutative, operands are sorted, so equal sums are one class in any order; common parts of two sums are
//! classes too, as are all parts of sums of up to four operands (longer ones would have 3ⁿ/2).
//!
//! | file | contents |
//! |---|---|
//! | `region.rs` | the ops of a region |
//! | `chain.rs` | non-commutative regions |
//! | `sum.rs` | commutative regions |

mod chain;
mod region;
mod sum;
#[cfg(test)]
mod tests;

use crate::graph::{Children, rebuild};
use crate::journal::By;
use crate::program::Program;
use egg::Id;
use gradus_ir::{Loc, Op, OpName, OpState};
use region::Regions;
use std::fmt;

/// A region that was skipped because of the node limit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LeftOut {
    /// The root op.
    pub op: Op,
    /// Number of operands of the region.
    pub operands: usize,
    /// Number of nodes that it would add.
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

/// Adds all groupings of associative regions while the graph has at most `max_nodes` nodes. `approx` includes ops that
/// are associative up to rounding.
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
        rebuild(&mut program.graph);
    }
    left_out
}

/// Returns the class of an op on two operands.
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

/// Merges the classes of two nodes if their types are equal.
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
