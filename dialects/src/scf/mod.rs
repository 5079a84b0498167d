//! `scf`: structured control flow: loops, conditionals and parallel loops with regions as bodies.
//!
//! Undefined behavior: a non-positive loop step, overflow of an induction variable, and control flow that depends on
//! poison.

mod counted;
mod execute_region;
mod for_loop;
mod forall;
mod if_op;
mod index_switch;
pub(crate) mod iteration_space;
mod parallel;
mod terminators;
mod text;
mod while_loop;

pub use execute_region::ExecuteRegionOp;
pub use for_loop::{ForOp, verify_loop};
pub use forall::{ForallOp, InParallelOp};
pub use if_op::IfOp;
pub use index_switch::IndexSwitchOp;
pub use parallel::{ParallelOp, ReduceOp, ReduceReturnOp, drop_undefined_parallel};
pub use terminators::{ConditionOp, YieldOp};
pub use while_loop::WhileOp;

use gradus_ir::{Dialect, Module, Op, OpDecl, Region, Value, Violation};

/// Verifies that the regions in `range` have one block each.
fn one_block_each(m: &Module, op: Op, range: std::ops::Range<usize>) -> Result<(), Violation> {
    let specs = m.info(op).map_or(&[][..], |info| info.regions);
    for i in range {
        if !m.has_one_block(m.regions(op)[i]) {
            let name = specs.get(i).or(specs.last()).map_or("", |spec| spec.name);
            return Err(format!("region #{i} ('{name}') failed to verify constraint: region with 1 blocks").into());
        }
    }
    Ok(())
}

/// Whether the value is defined outside the regions of `op`.
fn is_outside(m: &Module, value: Value, op: Op) -> bool {
    m.def_block(value).and_then(|b| m.block_op(b)).is_some_and(|around| around != op && !m.is_inside(around, op))
}

/// Maximum number of uses to follow; beyond it, the region is searched for uses.
const MANY_USES: usize = 256;

/// Returns the uses of a value in a region, nested regions included.
fn uses_inside(m: &Module, value: Value, region: Region) -> Vec<(Op, usize)> {
    let in_region = |&(user, _): &(Op, usize)| {
        let mut around = m.parent_block(user).and_then(|b| m.parent_region(b));
        while let Some(at) = around.filter(|&at| at != region) {
            around = m.region_op(at).and_then(|op| m.parent_block(op)).and_then(|b| m.parent_region(b));
        }
        around.is_some()
    };
    if m.uses(value).nth(MANY_USES).is_none() {
        return m.uses(value).filter(in_region).collect();
    }
    let ops = m.region_blocks(region).flat_map(|b| m.block_ops(b)).flat_map(|op| m.ops_under(op));
    let places = ops.flat_map(|op| (0..m.operands(op).len()).map(move |i| (op, i)));
    places.filter(|&(op, i)| m.operands(op)[i] == value).collect()
}

/// The dialect declaration.
pub const DIALECT: Dialect = Dialect {
    name: "scf",
    doc: "Structured control flow: loops and branches as ops with regions.",
    ops: &[
        ConditionOp::INFO,
        ExecuteRegionOp::INFO,
        ForOp::INFO,
        ForallOp::INFO,
        InParallelOp::INFO,
        IfOp::INFO,
        IndexSwitchOp::INFO,
        ParallelOp::INFO,
        ReduceOp::INFO,
        ReduceReturnOp::INFO,
        WhileOp::INFO,
        YieldOp::INFO,
    ],
    constant: None,
    ..Dialect::DEFAULT
};
