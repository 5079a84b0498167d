//! The sums of a convolution that is not depthwise.
//!
//! Values and weights less their zero points are at most 255 in magnitude, so sums of [`EXACT_TERMS`] products are exact in
//! 32-bit floats, of which a vector holds as many as of integers, but whose products take one instruction.

use super::depthwise::input_address;
use super::geometry::Conv;
use crate::npu::values::{Memories, accumulator};
use crate::npu::{Fault, NpuMachine};
use std::ops::Range;

/// Kernels of a panel of weights.
const LANES: usize = 8;
/// Positions that share the reads of a panel.
const GROUP: usize = 4;
/// Products of values of 9 bits whose sum a 32-bit float holds: `EXACT_TERMS * 255 * 255 < 2^24`.
const EXACT_TERMS: usize = 256;
/// Values of the positions that are gathered at once.
const BATCH_VALUES: usize = 16_384;
/// Terms of the panels that are kept at once: repeated weights may be more than any memory holds.
const PANEL_TERMS: usize = 1 << 20;

/// The sums of a group of positions with a panel.
type Sums = [[i64; LANES]; GROUP];

impl Memories {
    /// Executes `conv`. Each output position is a row of products with each kernel.
    pub(super) fn dense(&mut self, machine: &NpuMachine, conv: &Conv, at: usize) -> Result<(), Fault> {
        let terms = usize::from(conv.kernel[0]) * usize::from(conv.kernel[1]) * usize::from(conv.depth);
        let blocks = usize::from(conv.kernels).div_ceil(LANES);
        let blocks_at_once = (PANEL_TERMS / terms).max(1);
        (0..blocks).step_by(blocks_at_once).try_for_each(|first| {
            let panels = self.panels(conv, first..blocks.min(first + blocks_at_once));
            self.convolve(machine, conv, first, &panels, at)
        })
    }

    /// Computes the results of the kernels of some panels, the first of which is panel `first_block`.
    fn convolve(
        &mut self,
        machine: &NpuMachine,
        conv: &Conv,
        first_block: usize,
        panels: &[[f32; LANES]],
        at: usize,
    ) -> Result<(), Fault> {
        let (depth, taps) = (usize::from(conv.depth), usize::from(conv.kernel[0]) * usize::from(conv.kernel[1]));
        let (terms, positions) = (taps * depth, conv.positions() as usize);
        let batch = (BATCH_VALUES / terms).clamp(1, positions).next_multiple_of(GROUP);
        let mut patches = vec![0f32; batch * terms];
        for first in (0..positions).step_by(batch) {
            let count = batch.min(positions - first);
            for (i, row) in patches[..count * terms].chunks_exact_mut(depth).enumerate() {
                self.gather_floats(conv, input_address(conv, first + i / taps, i % taps), row);
            }
            for (block, panel) in panels.chunks_exact(terms).enumerate() {
                let kernel = (first_block + block) * LANES;
                let lanes = LANES.min(usize::from(conv.kernels) - kernel);
                for group in (0..count).step_by(GROUP) {
                    let sums = products(&patches[group * terms..(group + GROUP) * terms], panel);
                    for (p, sums) in sums.iter().enumerate().take(count - group) {
                        self.accumulate_row(machine, conv, [first + group + p, kernel], &sums[..lanes], at)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Adds the sums of consecutive kernels at a position; the kernels of a unit have consecutive accumulators.
    fn accumulate_row(
        &mut self,
        machine: &NpuMachine,
        conv: &Conv,
        [position, kernel]: [usize; 2],
        sums: &[i64],
        at: usize,
    ) -> Result<(), Fault> {
        let (unit, positions) = (machine.kernels as usize, conv.positions() as usize);
        let (mut kernel, mut sums) = (kernel, sums);
        while !sums.is_empty() {
            let (of_unit, rest) = sums.split_at(sums.len().min(unit - kernel % unit));
            let index = accumulator(machine, conv.acc, positions, position, kernel);
            for (i, &sum) in of_unit.iter().enumerate() {
                self.accumulate(conv, index + i, sum, at)?;
            }
            (kernel, sums) = (kernel + of_unit.len(), rest);
        }
        Ok(())
    }

    /// Returns the weights of some blocks of kernels less their zero point, `[block, KH, KW, D, 8]`; missing kernels are zero.
    fn panels(&self, conv: &Conv, blocks: Range<usize>) -> Vec<[f32; LANES]> {
        let (w, zero) = (&conv.weights, conv.weight_zero);
        let [kernel_rows, kernel_cols] = conv.kernel.map(usize::from);
        let (taps, depth) = (kernel_rows * kernel_cols, usize::from(conv.depth));
        let table = values_of_bytes(conv.signed_weights, zero);
        let mut out = vec![[0f32; LANES]; blocks.len() * taps * depth];
        for (i, panel) in out.chunks_exact_mut(depth).enumerate() {
            let (first, tap) = ((blocks.start + i / taps) * LANES, i % taps);
            let tap_offset = w.tap_offset((tap / kernel_cols) as u64, (tap % kernel_cols) as u64);
            for lane in 0..LANES.min(usize::from(conv.kernels) - first) {
                let base = (u64::from(w.base) + tap_offset + w.kernel_offset((first + lane) as u64)) as usize;
                for (i, run) in panel.chunks_mut(w.tile_d.into()).enumerate() {
                    let from = base + w.depth_offset((i * usize::from(w.tile_d)) as u64) as usize;
                    let bytes = &self.sram[from..from + run.len()];
                    run.iter_mut().zip(bytes).for_each(|(to, &byte)| to[lane] = table[usize::from(byte)]);
                }
            }
        }
        out
    }

    /// Writes the channels of an input position, less the zero point.
    fn gather_floats(&self, conv: &Conv, position: Option<u64>, out: &mut [f32]) {
        let Some(base) = position else { return out.fill((conv.pad_value - conv.feature_zero).into()) };
        let (feature, zero) = (&conv.feature, conv.feature_zero);
        let tile = usize::from(feature.tile_c);
        for (i, run) in out.chunks_mut(tile).enumerate() {
            let from = (base + feature.chan_offset((i * tile) as u64)) as usize;
            let bytes = &self.sram[from..from + run.len()];
            if conv.signed_feature {
                floats(bytes, run, |byte| i32::from(byte as i8) - i32::from(zero));
            } else {
                floats(bytes, run, |byte| i32::from(byte) - i32::from(zero));
            }
        }
    }
}

/// Returns the value of each byte less a zero point.
fn values_of_bytes(signed: bool, zero: i16) -> [f32; 256] {
    std::array::from_fn(|i| {
        let value = if signed { i16::from(i as u8 as i8) } else { i as i16 };
        (value - zero).into()
    })
}

/// Most runs are the eight bytes of a block, for which a loop of known length has no overhead.
#[inline(always)]
fn floats(bytes: &[u8], out: &mut [f32], value: impl Fn(u8) -> i32) {
    let ((blocks, rest), (to, to_rest)) = (bytes.as_chunks::<8>(), out.as_chunks_mut::<8>());
    for (to, block) in to.iter_mut().zip(blocks) {
        for i in 0..8 {
            to[i] = value(block[i]) as f32;
        }
    }
    to_rest.iter_mut().zip(rest).for_each(|(to, &byte)| *to = value(byte) as f32);
}

/// Returns the products of four rows with the kernels of a panel.
fn products(rows: &[f32], panel: &[[f32; LANES]]) -> Sums {
    let terms = panel.len();
    let rows = [0, 1, 2, 3].map(|i| &rows[i * terms..(i + 1) * terms]);
    let mut sums: Sums = [[0; LANES]; GROUP];
    for first in (0..terms).step_by(EXACT_TERMS) {
        let range = first..terms.min(first + EXACT_TERMS);
        let part = exact_products(rows.map(|row| &row[range.clone()]), &panel[range.clone()]);
        for (sums, part) in sums.iter_mut().zip(part) {
            sums.iter_mut().zip(part).for_each(|(sum, part)| *sum += i64::from(part as i32));
        }
    }
    sums
}

/// As [`products`], of at most [`EXACT_TERMS`] terms.
fn exact_products(rows: [&[f32]; GROUP], panel: &[[f32; LANES]]) -> [[f32; LANES]; GROUP] {
    let terms = panel.len();
    let rows = rows.map(|row| &row[..terms]);
    let mut sums = [[0f32; LANES]; GROUP];
    for i in 0..terms {
        for p in 0..GROUP {
            for lane in 0..LANES {
                sums[p][lane] += rows[p][i] * panel[i][lane];
            }
        }
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values at the bounds, and odd ones whose sums need each bit.
    #[test]
    fn sums_are_exact() {
        for terms in [1, 255, 256, 257, 1000] {
            let value = |i: usize| 255 - (i * i % 3) as i32;
            let rows: Vec<f32> = (0..GROUP * terms).map(|i| value(i) as f32).collect();
            let panel: Vec<[f32; LANES]> = (0..terms).map(|i| [-value(7 * i) as f32; LANES]).collect();
            let sums = products(&rows, &panel);
            for (p, sums) in sums.iter().enumerate() {
                let expected: i64 = (0..terms).map(|i| i64::from(value(p * terms + i) * -value(7 * i))).sum();
                assert_eq!(*sums, [expected; LANES], "{terms}");
            }
        }
    }
}
