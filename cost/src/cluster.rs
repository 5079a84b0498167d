//! Cost model of five clusters of sixteen cores, in cycles.
//!
//! Source: the machine of the seed on many-cluster processors: 8 products per cycle and core at an efficiency of 0.5 to
//! 0.75, 300 cycles per task, 24 bytes per cycle from memory, from which the parameters of an op are read once.

use gradus_ir::op_cost::{Contraction, ContractionKind, OpCost};
use gradus_ir::{Module, Op};

pub(super) const DOC: &str = "cycles of five clusters of sixteen cores";

const CORES: u64 = 80;
/// Products per cycle and core.
const PRODUCTS: u64 = 8;
/// Cycles to start a task.
const TASK: u64 = 300;
/// Bytes per cycle from memory.
const MEMORY: u64 = 24;
/// Bytes per cycle and core from the cluster's memory.
const LOCAL: u64 = 32;
const ELEMENT: u64 = 4;

pub(super) fn cost(m: &Module, op: Op) -> u64 {
    match OpCost::of(m, op) {
        OpCost::View => 1,
        OpCost::Move(n) | OpCost::Map(n) => TASK + n.saturating_mul(2 * ELEMENT).div_ceil(LOCAL * CORES),
        OpCost::Contract(c) => TASK + contract(&c),
    }
}

fn contract(c: &Contraction) -> u64 {
    let channels = c.depth / c.taps.max(1);
    let share = match channels {
        128.. => 75,
        32.. => 65,
        _ => 50,
    };
    let parameters = (c.groups * c.rows).saturating_mul(c.depth).saturating_mul(ELEMENT).div_ceil(MEMORY);
    match c.kind {
        ContractionKind::Dense => (c.products().saturating_mul(100) / (CORES * PRODUCTS * share)).max(parameters),
        ContractionKind::Sparse(..) | ContractionKind::Conv3x3(_) => crate::NEVER,
    }
}
