//! The sums of depthwise convolutions, exact.

use super::geometry::Conv;
use crate::npu::values::{Memories, accumulator};
use crate::npu::{AddressSpace, Fault, FaultClass, NpuMachine};

impl Memories {
    /// Executes `conv` or `dwconv`.
    pub(super) fn conv(&mut self, machine: &NpuMachine, conv: &Conv, dw: bool, at: usize) -> Result<(), Fault> {
        if dw { self.depthwise(machine, conv, at) } else { self.dense(machine, conv, at) }
    }

    /// Returns the weights of depth 1 less their zero point, `[KH, KW, K]`.
    fn depthwise_weights(&self, conv: &Conv) -> Vec<i16> {
        let (w, kernels) = (&conv.weights, usize::from(conv.kernels));
        let [kernel_rows, kernel_cols] = conv.kernel.map(usize::from);
        let mut out = vec![0i16; kernels * kernel_rows * kernel_cols];
        for (tap, row) in out.chunks_exact_mut(kernels).enumerate() {
            let (y, x) = ((tap / kernel_cols) as u64, (tap % kernel_cols) as u64);
            let base = w.base as usize + w.tap_offset(y, x) as usize;
            for (k, to) in row.iter_mut().enumerate() {
                let byte = self.sram[base + w.kernel_offset(k as u64) as usize];
                let value = if conv.signed_weights { i16::from(byte as i8) } else { byte.into() };
                *to = value - conv.weight_zero;
            }
        }
        out
    }

    /// Writes the channels of an input position.
    fn gather(&self, conv: &Conv, position: Option<u64>, channels: usize, out: &mut [i16]) {
        let Some(base) = position else { return out.fill(conv.pad_value - conv.feature_zero) };
        let (feature, mut c) = (&conv.feature, 0);
        while c < channels {
            let len = usize::from(feature.tile_c).min(channels - c);
            let from = (base + feature.chan_offset(c as u64)) as usize;
            widen(&self.sram[from..from + len], conv.signed_feature, conv.feature_zero, &mut out[c..c + len]);
            c += len;
        }
    }

    /// All channels of an output position at once.
    fn depthwise(&mut self, machine: &NpuMachine, conv: &Conv, at: usize) -> Result<(), Fault> {
        let weights = self.depthwise_weights(conv);
        let taps = usize::from(conv.kernel[0]) * usize::from(conv.kernel[1]);
        let channels = usize::from(conv.kernels);
        let (mut values, mut sums) = (vec![0i16; channels], vec![0i64; channels]);
        let mut part = vec![0i32; channels];
        let positions = conv.positions() as usize;
        for p in 0..positions {
            sums.fill(0);
            for first in (0..taps).step_by(MAX_SUM) {
                part.fill(0);
                for tap in first..taps.min(first + MAX_SUM) {
                    self.gather(conv, input_address(conv, p, tap), channels, &mut values);
                    let row = &weights[tap * channels..(tap + 1) * channels];
                    for ((sum, &value), &weight) in part.iter_mut().zip(&values).zip(row) {
                        *sum += i32::from(value) * i32::from(weight);
                    }
                }
                sums.iter_mut().zip(&part).for_each(|(sum, &part)| *sum += i64::from(part));
            }
            for (k, &sum) in sums.iter().enumerate() {
                self.accumulate(conv, accumulator(machine, conv.acc, positions, p, k), sum, at)?;
            }
        }
        Ok(())
    }

    #[inline]
    pub(super) fn accumulate(&mut self, conv: &Conv, index: usize, sum: i64, at: usize) -> Result<(), Fault> {
        let old = if conv.accumulate { self.accumulators[index].into() } else { 0 };
        let Ok(sum) = i32::try_from(sum + old) else {
            let fault = Fault::new(FaultClass::Overflow, at, "a sum exceeds 32 bits");
            return Err(fault.place(AddressSpace::Accumulators, index as u64));
        };
        self.accumulators[index] = sum;
        Ok(())
    }
}

/// Returns the address of channel 0 of the input of a tap; `None` in the padding.
pub(super) fn input_address(conv: &Conv, position: usize, tap: usize) -> Option<u64> {
    let (cols, kernel_cols) = (usize::from(conv.cols), usize::from(conv.kernel[1]));
    let h = conv.input(0, (position / cols) as u16, (tap / kernel_cols) as u16)?;
    let w = conv.input(1, (position % cols) as u16, (tap % kernel_cols) as u16)?;
    Some(u64::from(conv.feature.base) + conv.feature.row_offset(h) + conv.feature.col_offset(w))
}

fn widen(bytes: &[u8], signed: bool, zero: i16, out: &mut [i16]) {
    if signed {
        widen_by(bytes, out, |b| i16::from(b as i8) - zero);
    } else {
        widen_by(bytes, out, |b| i16::from(b) - zero);
    }
}

/// Most runs are the eight bytes of a block, for which a loop of known length has no overhead.
fn widen_by(bytes: &[u8], out: &mut [i16], value: impl Fn(u8) -> i16) {
    let ((blocks, rest), (to, to_rest)) = (bytes.as_chunks::<8>(), out.as_chunks_mut::<8>());
    to.iter_mut().zip(blocks).for_each(|(to, block)| *to = block.map(&value));
    to_rest.iter_mut().zip(rest).for_each(|(to, &byte)| *to = value(byte));
}

/// Products of bytes, less their zero points, that a sum of 32 bits holds: `MAX_SUM * 255 * 255 < 2^31`.
const MAX_SUM: usize = 32_768;
