//! Cost model of the multiplier array with two-dimensional SRAM, in cycles.
//!
//! Source: its description: 8 kernels by 8 channels at 4 positions are 256 products per cycle, depthwise 8 channels at
//! 4 positions; 64 bytes per cycle within SRAM; 3.75 bytes per cycle to memory, with a latency of 500 cycles to read
//! and 250 to write. It has no elementwise multiply: an op without implementation goes through memory to another
//! processor and back.

use gradus_ir::op_cost::{Contraction, ContractionKind, OpCost};
use gradus_ir::{Module, Op};

pub(super) const DOC: &str = "cycles of a multiplier array with SRAM of its own";

/// Kernels per address, channels per address, and positions per cycle.
const KERNELS: u64 = 8;
const DEPTH: u64 = 8;
const POSITIONS: u64 = 4;
/// Bytes per cycle of a move within SRAM.
const MOVE: u64 = 64;
/// Cycles to start an instruction.
const START: u64 = 16;
/// Latency in cycles of reading from and writing to memory.
const MEMORY: u64 = 750;

pub(super) fn cost(m: &Module, op: Op) -> u64 {
    match OpCost::of(m, op) {
        OpCost::View => 1,
        OpCost::Move(n) => START + n.div_ceil(MOVE),
        // Two operands and a result at 15 bytes per four cycles.
        OpCost::Map(n) => MEMORY + n.saturating_mul(3 * 4).div_ceil(15),
        OpCost::Contract(c) => START + contract(&c),
    }
}

fn contract(c: &Contraction) -> u64 {
    let depthwise = c.groups > 1 && c.depth == c.taps;
    match c.kind {
        ContractionKind::Dense if depthwise => {
            let kernels = (c.groups * c.rows).div_ceil(KERNELS);
            kernels.saturating_mul(c.taps).saturating_mul(c.columns.div_ceil(POSITIONS))
        }
        ContractionKind::Dense => {
            let blocks = c.groups * c.rows.div_ceil(KERNELS) * (c.depth / c.taps.max(1)).div_ceil(DEPTH) * c.taps;
            blocks.saturating_mul(c.columns.div_ceil(POSITIONS))
        }
        ContractionKind::Sparse(..) | ContractionKind::Conv3x3(_) => crate::NEVER,
    }
}
