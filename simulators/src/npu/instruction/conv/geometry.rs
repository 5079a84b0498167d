//! The fields of convolutions, and the positions and bytes that they read.

use crate::fields::records;
use crate::npu::NpuMachine;
use crate::npu::access::Collector;
use crate::npu::operands::{Feature, Weights};
use std::ops::Range;

/// A convolution into accumulators. Output `(y, x)` of kernel `k` is the sum over taps and depth of
/// `(feature(y * stride - pad_top + ky * dilation, ..., d) - feature_zero) * (weights(ky, kx, k, d) - weight_zero)`; a position
/// outside of `height` and `width` has the value `pad_value`. As `dwconv` the depth is 1 and output channel `k` reads channel `k`.
///
/// The accumulator of `(y, x)` of kernel `k` is `acc + ((k / 8) * rows * cols + y * cols + x) * 8 + k % 8`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Conv {
    /// The input.
    pub feature: Feature,
    /// The kernels.
    pub weights: Weights,
    /// Rows of the input that exist.
    pub height: u16,
    /// Columns of the input that exist.
    pub width: u16,
    /// Rows of the output.
    pub rows: u16,
    /// Columns of the output.
    pub cols: u16,
    /// Number of kernels; of `dwconv` the number of channels.
    pub kernels: u16,
    /// Depth of a kernel; 1 for `dwconv`.
    pub depth: u16,
    /// Rows and columns of a kernel.
    pub kernel: [u16; 2],
    /// Steps along rows and columns.
    pub stride: [u16; 2],
    /// Distances between taps along rows and columns.
    pub dilation: [u16; 2],
    /// Padding before the first row and column.
    pub pad: [u16; 2],
    /// Value of padding.
    pub pad_value: i16,
    /// Zero point that is subtracted from the feature and from padding.
    pub feature_zero: i16,
    /// Zero point that is subtracted from weights, if the machine's weights have 9 bits; otherwise 0.
    pub weight_zero: i16,
    /// Whether bytes of the feature are signed.
    pub signed_feature: bool,
    /// Whether bytes of the weights are signed.
    pub signed_weights: bool,
    /// Adds to the accumulators instead of overwriting them.
    pub accumulate: bool,
    /// First accumulator, a multiple of 8.
    pub acc: u32,
}

records! {
    Conv {
        feature, weights, height, width, rows, cols, kernels, depth, kernel, stride, dilation, pad, pad_value, feature_zero,
        weight_zero, signed_feature, signed_weights, accumulate, acc
    }
}

impl Conv {
    /// Reduces addresses to those of the same cost.
    pub(in crate::npu) fn align(&mut self, machine: &NpuMachine) {
        let span = machine.word_bytes * machine.banks;
        self.feature.base %= span;
        self.weights.base %= span;
        self.acc = 0;
    }
}

impl Conv {
    /// Returns the input coordinate of an output coordinate and a tap along an axis; `None` in the padding.
    pub(in crate::npu) fn input(&self, axis: usize, output: u16, tap: u16) -> Option<u64> {
        let extent = if axis == 0 { self.height } else { self.width };
        let at = i64::from(output) * i64::from(self.stride[axis]) + i64::from(tap) * i64::from(self.dilation[axis])
            - i64::from(self.pad[axis]);
        (0..i64::from(extent)).contains(&at).then_some(at as u64)
    }

    /// Returns the number of output positions.
    pub fn positions(&self) -> u64 {
        u64::from(self.rows) * u64::from(self.cols)
    }

    /// Returns the number of products, those with padding included.
    pub fn macs(&self) -> u64 {
        let terms = u64::from(self.kernel[0]) * u64::from(self.kernel[1]) * u64::from(self.depth);
        (self.positions() * u64::from(self.kernels)).saturating_mul(terms)
    }

    /// Returns the bytes from the first to the last weight.
    pub(in crate::npu) fn weight_extent(&self) -> Range<u64> {
        let last = |n: u16| u64::from(n).saturating_sub(1);
        let w = &self.weights;
        let tap = w.tap_offset(last(self.kernel[0]), last(self.kernel[1]));
        let end = tap + w.kernel_offset(last(self.kernels)) + w.depth_offset(last(self.depth)) + 1;
        u64::from(w.base)..u64::from(w.base) + end
    }
}

/// Returns the coordinates below `extent` that a window touches along one axis, ascending.
pub(super) fn touched(conv: &Conv, axis: usize) -> Vec<u64> {
    let (outputs, extent) = if axis == 0 { (conv.rows, conv.height) } else { (conv.cols, conv.width) };
    let mut hit = vec![false; extent.into()];
    for o in 0..outputs {
        for k in 0..conv.kernel[axis] {
            if let Some(i) = conv.input(axis, o, k) {
                hit[i as usize] = true;
            }
        }
    }
    (0..u64::from(extent)).filter(|&i| hit[i as usize]).collect()
}

/// Collects the bytes of a tap's weights: blocks with the smaller stride inside, and in them rows of depth values.
pub(super) fn weight_bytes(out: &mut Collector, conv: &Conv, tap: u64) {
    let (w, kernels, depth) = (&conv.weights, u64::from(conv.kernels), u64::from(conv.depth));
    let (tile_k, tile_d) = (u64::from(w.tile_k), u64::from(w.tile_d));
    let (kernel_blocks, depth_blocks) = (kernels.div_ceil(tile_k), depth.div_ceil(tile_d));
    let mut block = |k: u64, d: u64| {
        let len = tile_d.min(depth - d * tile_d);
        for kernel in k * tile_k..kernels.min((k + 1) * tile_k) {
            out.push(tap + w.kernel_offset(kernel) + w.depth_offset(d * tile_d), len);
        }
    };
    if w.kernel < w.depth {
        (0..depth_blocks).for_each(|d| (0..kernel_blocks).for_each(|k| block(k, d)));
    } else {
        (0..kernel_blocks).for_each(|k| (0..depth_blocks).for_each(|d| block(k, d)));
    }
}
