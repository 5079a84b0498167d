//! The values of instructions, exact. Accesses are checked before; no index here is out of bounds.

use super::access::{AccessSet, for_each_run, offset};
use super::{AddressSpace, Conv, Fault, FaultClass, Feature, Move, NpuMachine, Post, Residual, Transfer};

/// Bytes of DDR, with a flag for each whether it is initialized.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Ddr {
    /// The bytes.
    pub bytes: Vec<u8>,
    /// Whether each byte is initialized; the others are poison.
    pub initialized: Vec<bool>,
}

impl Ddr {
    /// Creates a memory of poison.
    pub fn new(size: usize) -> Ddr {
        Ddr { bytes: vec![0; size], initialized: vec![false; size] }
    }

    /// Writes bytes, which are initialized from then on.
    ///
    /// # Panics
    /// If they do not fit.
    pub fn write(&mut self, at: usize, bytes: &[u8]) {
        self.bytes[at..at + bytes.len()].copy_from_slice(bytes);
        self.initialized[at..at + bytes.len()].fill(true);
    }

    /// Returns `len` bytes; `None` if they are out of bounds or poison.
    pub fn read(&self, at: usize, len: usize) -> Option<&[u8]> {
        let end = at.checked_add(len)?;
        let flags = self.initialized.get(at..end)?;
        flags.iter().all(|&flag| flag).then(|| self.bytes.get(at..end))?
    }
}

/// SRAM and accumulators.
pub(super) struct Memories {
    pub sram: Vec<u8>,
    pub sram_initialized: Vec<bool>,
    pub accumulators: Vec<i32>,
    pub accumulators_initialized: Vec<bool>,
}

impl Memories {
    /// Creates memories of poison, with `fill` as their bytes.
    pub fn new(machine: &NpuMachine, fill: u8) -> Memories {
        let (bytes, accumulators) = (machine.sram_bytes as usize, machine.accumulators as usize);
        Memories {
            sram: vec![fill; bytes],
            sram_initialized: vec![false; bytes],
            accumulators: vec![i32::from_le_bytes([fill; 4]); accumulators],
            accumulators_initialized: vec![false; accumulators],
        }
    }

    /// Marks the results of array and pipe as initialized.
    pub fn initialize<'a>(&mut self, written: impl Iterator<Item = &'a AccessSet>) {
        for access in written {
            let flags = match access.memory {
                AddressSpace::Sram => &mut self.sram_initialized,
                AddressSpace::Accumulators => &mut self.accumulators_initialized,
                AddressSpace::Ddr => continue,
            };
            access.ranges.iter().for_each(|r| flags[r.start as usize..r.end as usize].fill(true));
        }
    }

    pub fn load(&mut self, t: &Transfer, ddr: &Ddr) {
        for_each_run(&t.counts, |index| {
            let from = t.ddr as usize + offset(index, &t.ddr_strides) as usize;
            let to = t.sram as usize + offset(index, &t.sram_strides) as usize;
            let n = t.run as usize;
            self.sram[to..to + n].copy_from_slice(&ddr.bytes[from..from + n]);
            self.sram_initialized[to..to + n].copy_from_slice(&ddr.initialized[from..from + n]);
        });
    }

    pub fn store(&self, t: &Transfer, ddr: &mut Ddr) {
        for_each_run(&t.counts, |index| {
            let to = t.ddr as usize + offset(index, &t.ddr_strides) as usize;
            let from = t.sram as usize + offset(index, &t.sram_strides) as usize;
            let n = t.run as usize;
            ddr.bytes[to..to + n].copy_from_slice(&self.sram[from..from + n]);
            ddr.initialized[to..to + n].copy_from_slice(&self.sram_initialized[from..from + n]);
        });
    }

    pub fn move_slices(&mut self, m: &Move) {
        for_each_run(&m.counts, |index| {
            let from = m.from as usize + offset(index, &m.from_strides) as usize;
            let to = m.to as usize + offset(index, &m.to_strides) as usize;
            self.sram.copy_within(from..from + m.slice as usize, to);
            self.sram_initialized.copy_within(from..from + m.slice as usize, to);
        });
    }

    /// Executes `conv` or `dwconv`.
    pub fn conv(&mut self, machine: &NpuMachine, conv: &Conv, dw: bool, at: usize) -> Result<(), Fault> {
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

    /// Executes `post`.
    pub fn post(&mut self, machine: &NpuMachine, post: &Post, at: usize) -> Result<(), Fault> {
        let outputs = position_addresses(&post.output, post);
        let mut values = vec![0; outputs.len()];
        let (unit, residual) = (machine.kernels as usize, post.residual.map(|r| (r, Rounding::new(r.shift.into()))));
        let others = post.residual.map_or(Vec::new(), |residual| position_addresses(&residual.feature, post));
        for k in 0..usize::from(post.kernels) {
            let from = post.params as usize + k * post.param_stride as usize;
            let word = |i: usize| {
                let b = &self.sram[from + 4 * i..from + 4 * i + 4];
                i32::from_le_bytes([b[0], b[1], b[2], b[3]])
            };
            let (bias, scale, shift) = (i64::from(word(0)), word(1), word(2) as u32);
            if shift > 62 {
                let fault = Fault::new(FaultClass::Field, at, "a shift is at most 62");
                return Err(fault.place(AddressSpace::Sram, from as u64 + 8));
            }
            let table = post.table.map(|t| t as usize + k * post.table_stride as usize);
            let channel = post.output.chan_offset(k as u64) as usize;
            let index = accumulator(machine, post.acc, outputs.len(), 0, k);
            let requantization = Requantization::new(scale, shift, post);
            let other_channel = post.residual.map_or(0, |r| r.feature.chan_offset(k as u64) as usize);
            let sums = self.accumulators[index..].iter().step_by(unit);
            for (value, &sum) in values.iter_mut().zip(sums) {
                *value = requantization.apply(i64::from(sum) + bias);
            }
            if let Some((residual, rounding)) = &residual {
                for (value, other) in values.iter_mut().zip(&others) {
                    *value = residual.add(rounding, *value, self.sram[other + other_channel]);
                }
            }
            for (&value, output) in values.iter().zip(&outputs) {
                let byte = value as u8;
                self.sram[output + channel] = table.map_or(byte, |table| self.sram[table + usize::from(byte)]);
            }
        }
        Ok(())
    }
}

/// Returns the address of channel 0 of each position.
fn position_addresses(feature: &Feature, post: &Post) -> Vec<usize> {
    let of_row = |h: u16| (0..post.cols).map(move |w| feature.address(h.into(), w.into(), 0) as usize);
    (0..post.rows).flat_map(of_row).collect()
}

/// Returns the address of channel 0 of the input of a tap; `None` in the padding.
pub(super) fn input_address(conv: &Conv, position: usize, tap: usize) -> Option<u64> {
    let (cols, kernel_cols) = (usize::from(conv.cols), usize::from(conv.kernel[1]));
    let h = conv.input(0, (position / cols) as u16, (tap / kernel_cols) as u16)?;
    let w = conv.input(1, (position % cols) as u16, (tap % kernel_cols) as u16)?;
    Some(u64::from(conv.feature.base) + conv.feature.row_offset(h) + conv.feature.col_offset(w))
}

/// Returns the index of an accumulator.
#[inline]
pub(super) fn accumulator(machine: &NpuMachine, acc: u32, positions: usize, p: usize, k: usize) -> usize {
    let unit = machine.kernels as usize;
    acc as usize + ((k / unit) * positions + p) * unit + k % unit
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

/// Returns `value * 2^-shift`, rounded half to even.
fn round(value: i128, shift: u32) -> i128 {
    if shift == 0 {
        return value;
    }
    let floor = value >> shift;
    let (rest, half) = (value - (floor << shift), 1i128 << (shift - 1));
    floor + i128::from(rest > half || (rest == half && floor & 1 == 1))
}

/// Multiplication by `2^-shift`, rounded half to even.
#[derive(Clone, Copy)]
struct Rounding {
    shift: u32,
    /// The bits that are rounded.
    mask: i64,
    /// One less than a half; and 1, unless nothing is rounded.
    offset: i64,
    parity: i64,
}

impl Rounding {
    /// Returns the rounding of a shift of at most 62.
    fn new(shift: u32) -> Rounding {
        let unit = 1i64 << shift;
        Rounding { shift, mask: unit - 1, offset: (unit / 2 - 1).max(0), parity: i64::from(shift > 0) }
    }

    #[inline]
    fn round(&self, value: i64) -> i64 {
        let floor = value >> self.shift;
        // An odd multiple is rounded up from a half, an even one above it.
        floor + (((value & self.mask) + self.offset + (floor & self.parity)) >> self.shift)
    }
}

/// The requantization of a kernel: `clamp(round(value * scale * 2^-shift) + zero)`.
struct Requantization {
    scale: i32,
    rounding: Rounding,
    zero: i64,
    /// Bounds of the result less the zero point.
    bounds: [i64; 2],
}

impl Requantization {
    fn new(scale: i32, shift: u32, post: &Post) -> Requantization {
        let zero = i64::from(post.zero);
        Requantization { scale, rounding: Rounding::new(shift), zero, bounds: post.clamp.map(|n| i64::from(n) - zero) }
    }

    /// Requantizes a sum of two numbers of 32 bits.
    #[inline]
    fn apply(&self, value: i64) -> i16 {
        let scale = i64::from(self.scale);
        let rounded = if self.scale == i32::MIN {
            // The only factor with which a product may exceed 64 bits.
            saturate(round(i128::from(value) * i128::from(scale), self.rounding.shift))
        } else {
            self.rounding.round(value * scale)
        };
        (rounded.clamp(self.bounds[0], self.bounds[1]) + self.zero) as i16
    }
}

fn saturate(value: i128) -> i64 {
    value.clamp(i64::MIN.into(), i64::MAX.into()) as i64
}

impl Residual {
    /// Returns the clamped sum of a requantized result and a byte of the other feature.
    #[inline]
    fn add(&self, rounding: &Rounding, value: i16, other: u8) -> i16 {
        // Factors of 32 bits and differences of 17 bits: no sum overflows.
        let other = if self.signed { i64::from(other as i8) } else { i64::from(other) };
        let left = (i64::from(value) - i64::from(self.zero)) * i64::from(self.scale);
        let right = (other - i64::from(self.other_zero)) * i64::from(self.other_scale);
        let sum = rounding.round(left + right) + i64::from(self.sum_zero);
        sum.clamp(self.sum_clamp[0].into(), self.sum_clamp[1].into()) as i16
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounding_is_half_to_even() {
        for shift in [0, 1, 2, 3, 31, 61, 62] {
            let unit = 1i64 << shift;
            let near = (-9..=9).flat_map(|n: i64| (-2..=2).map(move |d| n.wrapping_mul(unit / 2).wrapping_add(d)));
            for value in near.chain([i64::MIN, i64::MIN + 1, i64::MAX - 1, i64::MAX]) {
                assert_eq!(
                    i128::from(Rounding::new(shift).round(value)),
                    round(value.into(), shift),
                    "{value} {shift}"
                );
            }
        }
    }

    #[test]
    fn requantization_is_exact_at_the_bounds() {
        let post = Post { zero: -7, clamp: [-128, 127], ..Post::default() };
        for scale in [i32::MIN, i32::MIN + 1, -1, 0, 1, i32::MAX] {
            for value in [-(1i64 << 32), 1 - (1 << 32), -1, 0, 1, (1 << 32) - 2] {
                for shift in [0, 31, 55, 56, 57, 62] {
                    let exact = round(i128::from(value) * i128::from(scale), shift) - 7;
                    let result = Requantization::new(scale, shift, &post).apply(value);
                    assert_eq!(i128::from(result), exact.clamp(-128, 127), "{value} {scale} {shift}");
                }
            }
        }
    }
}
