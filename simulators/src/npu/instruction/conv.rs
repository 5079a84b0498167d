//! Convolutions: `conv`, `dwconv`.

mod array_cost;
mod dense;
mod depthwise;
mod geometry;

pub use geometry::Conv;

use super::unit_instruction::{ArrayProducts, UnitInstruction};
use crate::npu::access::{
    AccessSet, Collector, MemorySizes, accumulators, check_accumulators, feature_bytes, read, write,
};
use crate::npu::check::{MAX_TERMS, check_feature, is_byte, rules};
use crate::npu::cost::MAX_STEPS;
use crate::npu::operands::Weights;
use crate::npu::values::{Ddr, Memories};
use crate::npu::{AddressSpace, Cost, Fault, FaultClass, NpuMachine, Statistics};
use array_cost::ArrayCost;
use geometry::{touched, weight_bytes};

/// A convolution of all channels, or of each channel by itself.
pub(super) struct ArrayInstruction {
    pub conv: Conv,
    pub is_depthwise: bool,
}

impl UnitInstruction for ArrayInstruction {
    fn check(&self, machine: &NpuMachine) -> Result<(), &'static str> {
        rules(&[(!self.is_depthwise || self.conv.depth == 1, "the depth of a depthwise convolution is 1")])?;
        check(machine, &self.conv)
    }

    fn is_bounded(&self, machine: &NpuMachine) -> bool {
        let conv = &self.conv;
        let taps = u64::from(conv.kernel[0]) * u64::from(conv.kernel[1]);
        let unit = |n: u16, unit: u32| u64::from(n).div_ceil(unit.into());
        let (kernels, depths) = (unit(conv.kernels, machine.kernels), unit(conv.depth, machine.depth));
        let channels = if self.is_depthwise { kernels } else { depths };
        let steps = (kernels * depths).saturating_add(conv.positions() * channels);
        conv.positions() <= machine.accumulators.into() && taps.saturating_mul(steps) <= MAX_STEPS
    }

    fn cost(&self, machine: &NpuMachine) -> Cost {
        ArrayCost::new(machine, &self.conv, self.is_depthwise).total()
    }

    fn accesses(&self, machine: &NpuMachine, sizes: MemorySizes, at: usize) -> Result<Vec<AccessSet>, Fault> {
        let (conv, dw) = (&self.conv, self.is_depthwise);
        check_accumulators(machine, conv.acc, conv.positions(), conv.kernels, at)?;
        let channels = if dw { conv.kernels } else { conv.depth };
        let (rows, cols) = (touched(conv, 0), touched(conv, 1));
        let mut feature = Collector::default();
        feature_bytes(&mut feature, &conv.feature, &rows, &cols, channels.into());
        let mut weights = Collector::default();
        for y in 0..conv.kernel[0].into() {
            for x in 0..conv.kernel[1].into() {
                weight_bytes(&mut weights, conv, u64::from(conv.weights.base) + conv.weights.tap_offset(y, x));
                // Repeated weights, as of pooling, are the same ranges again.
                if weights.ranges.len() > 1 << 16 {
                    weights.ranges = std::mem::take(&mut weights).finish(false).unwrap_or_default();
                    if weights.ranges.last().is_some_and(|r| r.end > sizes.sram) {
                        return Err(Fault::new(FaultClass::Bounds, at, "an access ends beyond the memory"));
                    }
                }
            }
        }
        let mut list = vec![read(AddressSpace::Sram, true, feature), read(AddressSpace::Sram, true, weights)];
        let result = || accumulators(machine, conv.acc, conv.positions(), conv.kernels);
        if conv.accumulate {
            list.push(read(AddressSpace::Accumulators, true, result()));
        }
        list.extend(write(AddressSpace::Accumulators, result()));
        Ok(list)
    }

    fn work(&self) -> u64 {
        self.conv.macs()
    }

    fn count(&self, statistics: &mut Statistics) {
        statistics.macs += self.conv.macs();
    }

    fn execute(&self, machine: &NpuMachine, memories: &mut Memories, _: &mut Ddr, at: usize) -> Result<(), Fault> {
        memories.conv(machine, &self.conv, self.is_depthwise, at)
    }

    fn products(&self) -> Option<ArrayProducts> {
        let (macs, weights) = (self.conv.macs(), self.conv.weight_extent());
        Some(ArrayProducts { macs, is_depthwise: self.is_depthwise, weights })
    }
}

fn check(machine: &NpuMachine, conv: &Conv) -> Result<(), &'static str> {
    let Conv { kernel, stride, dilation, .. } = *conv;
    let Weights { tile_w, tile_k, tile_d, .. } = conv.weights;
    let terms = u64::from(kernel[0]) * u64::from(kernel[1]) * u64::from(conv.depth);
    check_feature(&conv.feature)?;
    rules(&[
        (tile_w >= 1 && tile_k >= 1 && tile_d >= 1, "the tiles of weights are at least 1"),
        (conv.height >= 1 && conv.width >= 1, "the input has at least one position"),
        (conv.rows >= 1 && conv.cols >= 1, "the output has at least one position"),
        (conv.kernels >= 1 && conv.depth >= 1, "there is at least one kernel, of depth 1 or more"),
        (kernel[0] >= 1 && kernel[1] >= 1, "a kernel has at least one tap"),
        (stride[0] >= 1 && stride[1] >= 1, "a stride is at least 1"),
        (dilation[0] >= 1 && dilation[1] >= 1, "a dilation is at least 1"),
        (terms <= MAX_TERMS, "a sum has at most 2^22 products"),
        (is_byte(conv.pad_value, conv.signed_feature), "the value of padding is a byte of the feature"),
        (is_byte(conv.feature_zero, conv.signed_feature), "the zero point of the feature is a byte of it"),
        (is_byte(conv.feature_zero, conv.signed_feature), "the zero point of a feature is a byte of it"),
        (
            conv.weight_zero == 0 || (machine.weight_bits == 9 && is_byte(conv.weight_zero, conv.signed_weights)),
            "a zero point of weights is a byte of theirs, and needs weights of 9 bits",
        ),
        (conv.acc.is_multiple_of(machine.kernels), "the first accumulator begins a block"),
    ])
}
