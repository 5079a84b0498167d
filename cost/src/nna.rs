//! Cost model of the 3x3 convolution engine with its scalar processor, in cycles.
//!
//! Source: the machine of the seed on matrix products on a convolution engine: 9 cycles per output block plus 8 to fill
//! and drain; 144 writes for the weights of a kernel of 32x32 channels and 12 for two patches of nine pixels; every
//! other output of a step is a patch. One product per cycle on the scalar side is assumed.

use gradus_ir::op_cost::{Contraction, ContractionKind, Conv3x3Mapping, OpCost};
use gradus_ir::{Module, Op};

pub(super) const DOC: &str = "cycles of an engine for 3x3 convolutions and its scalar processor";

/// Channels per pixel.
const CHANNELS: u64 = 32;
/// Pixels under the 3x3 filter.
const TAPS: u64 = 9;
/// Patches per step of engine version 2.
const PATCHES: u64 = 4;
/// Cycles of a step: output block, fill and drain.
const STEP: u64 = 17;
/// Cycles to write the weights of a kernel, and the pixels of a step.
const WEIGHTS: u64 = 144;
const PIXELS: u64 = 24;
/// Cycles to start an instruction.
const OVERHEAD: u64 = 100;
/// Elements per vector register.
const LANES: u64 = 16;

pub(super) fn cost(m: &Module, op: Op) -> u64 {
    match OpCost::of(m, op) {
        OpCost::View => 1,
        OpCost::Move(n) | OpCost::Map(n) => OVERHEAD + n.div_ceil(LANES).saturating_mul(2),
        OpCost::Contract(c) => OVERHEAD + contract(&c),
    }
}

fn contract(c: &Contraction) -> u64 {
    match c.kind {
        // Native convolution: a 3x3 filter over pixels of 32 channels.
        ContractionKind::Dense if c.taps == TAPS => {
            let blocks = c.groups * c.rows.div_ceil(CHANNELS) * (c.depth / TAPS).div_ceil(CHANNELS);
            blocks.saturating_mul(WEIGHTS.max(STEP * c.columns.div_ceil(2 * PATCHES)))
        }
        ContractionKind::Dense => c.products(),
        ContractionKind::Conv3x3(Conv3x3Mapping::Diagonal) => {
            let filters = (c.groups * c.rows).saturating_mul(c.depth.div_ceil(TAPS));
            let steps = c.columns.div_ceil(CHANNELS * PATCHES);
            filters.saturating_mul(WEIGHTS.max(steps * STEP.max(PIXELS)))
        }
        ContractionKind::Conv3x3(Conv3x3Mapping::Dense) => {
            let kernels = c.groups * c.rows.div_ceil(CHANNELS) * c.depth.div_ceil(TAPS * CHANNELS);
            let steps = c.columns.div_ceil(PATCHES);
            kernels.saturating_mul(WEIGHTS.max(steps * STEP.max(PIXELS)))
        }
        ContractionKind::Sparse(..) => crate::NEVER,
    }
}
