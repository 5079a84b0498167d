//! Cost model of a core with 512-bit vectors, in cycles.
//!
//! Source: measurements of such a core at 2.5 GHz: 151.6 GFLOP/s of multiply-adds are 30 products per cycle, 117 GB/s
//! from the L2 cache are 46 bytes per cycle; convolutions at 60 % of the peak, depthwise ones at 10 %; code with
//! immediates at 75 % per nonzero, compressed sparse rows at 35 %. The overhead per op is assumed.

use gradus_ir::op_cost::{Contraction, ContractionKind, OpCost, Sparse};
use gradus_ir::{Module, Op};

pub(super) const DOC: &str = "cycles of a core with 512-bit vectors";

/// Cycles to call a kernel.
const OVERHEAD: u64 = 200;
/// Products per cycle at the peak.
const PEAK: u64 = 30;
/// Bytes per cycle from the L2 cache.
const BYTES: u64 = 46;
/// Bytes per element.
const ELEMENT: u64 = 4;
/// Elements per vector.
const LANES: u64 = 16;
/// Bytes of code per nonzero.
const CODE: u64 = 8;
/// Number of columns of the sparse operand per pattern-dispatched function.
const PATTERN: u64 = 8;

pub(super) fn cost(m: &Module, op: Op) -> u64 {
    match OpCost::of(m, op) {
        OpCost::View => 1,
        OpCost::Move(n) | OpCost::Map(n) => OVERHEAD + n.saturating_mul(2 * ELEMENT) / BYTES,
        OpCost::Contract(c) => OVERHEAD + contract(&c),
    }
}

fn contract(c: &Contraction) -> u64 {
    let products = c.products();
    match c.kind {
        // Bound by memory bandwidth if each element is used only a few times.
        ContractionKind::Dense => {
            let read = c.groups.saturating_mul((c.rows + c.columns).saturating_mul(c.depth)).saturating_mul(ELEMENT);
            let share = if c.groups > 1 && c.depth == c.taps { 10 } else { 60 };
            (products.saturating_mul(100) / (PEAK * share)).max(read / BYTES)
        }
        ContractionKind::Sparse(form, factors) => sparse(c, form, factors),
        ContractionKind::Conv3x3(_) => crate::NEVER,
    }
}

/// Vectors run along the dense operand; if it has one column, each nonzero takes a scalar instruction.
fn sparse(c: &Contraction, form: Sparse, factors: u64) -> u64 {
    if factors == u64::MAX {
        return crate::NEVER;
    }
    let dense = c.rows.min(c.columns);
    let vectors = dense.div_ceil(LANES);
    // Two multiply-adds per cycle.
    let steps = factors.saturating_mul(vectors).div_ceil(2);
    match form {
        Sparse::Unrolled => (steps.saturating_mul(100) / 75).max(factors.saturating_mul(CODE) / BYTES),
        Sparse::Patterns => steps.saturating_mul(100) / 60 + c.depth.max(c.rows.max(c.columns)).div_ceil(PATTERN) * 4,
        Sparse::Csr => steps.saturating_mul(100) / 35 + c.depth + 2 * c.rows.max(c.columns),
    }
}
