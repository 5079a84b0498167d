//! The values of instructions, exact. Accesses are checked before; no index here is out of bounds.

use super::access::{Access, for_each_run, offset};
use super::{Conv, Fault, FaultClass, Feature, Machine, Memory, Move, Post, Residual, Transfer};

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
    pub fn new(machine: &Machine, fill: u8) -> Memories {
        let (bytes, accumulators) = (machine.sram_bytes as usize, machine.accumulators as usize);
        Memories {
            sram: vec![fill; bytes],
            sram_initialized: vec![false; bytes],
            accumulators: vec![i32::from_le_bytes([fill; 4]); accumulators],
            accumulators_initialized: vec![false; accumulators],
        }
    }

    /// Marks the results of array and pipe as initialized.
    pub fn initialize<'a>(&mut self, written: impl Iterator<Item = &'a Access>) {
        for access in written {
            let flags = match access.memory {
                Memory::Sram => &mut self.sram_initialized,
                Memory::Accumulators => &mut self.accumulators_initialized,
                Memory::Ddr => continue,
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
    pub fn conv(&mut self, machine: &Machine, conv: &Conv, dw: bool, at: usize) -> Result<(), Fault> {
        let weights = self.weights(conv);
        if dw { self.depthwise(machine, conv, &weights, at) } else { self.dense(machine, conv, &weights, at) }
    }

    /// Returns the weights less their zero point, `[K, KH, KW, D]`; of one depth value `[KH, KW, K]`.
    fn weights(&self, conv: &Conv) -> Vec<i16> {
        let w = &conv.weights;
        let [kernel_rows, kernel_cols] = conv.kernel.map(usize::from);
        let (kernels, depth) = (usize::from(conv.kernels), usize::from(conv.depth));
        let mut out = vec![0i16; kernels * kernel_rows * kernel_cols * depth];
        let taps = kernel_rows * kernel_cols;
        for tap in 0..taps {
            let (y, x) = ((tap / kernel_cols) as u64, (tap % kernel_cols) as u64);
            for k in 0..kernels {
                let base = w.base as usize + (w.tap_offset(y, x) + w.kernel_offset(k as u64)) as usize;
                let target = if depth == 1 { tap * kernels + k } else { (k * taps + tap) * depth };
                let mut d = 0;
                while d < depth {
                    let len = usize::from(w.tile_d).min(depth - d);
                    let from = base + w.depth_offset(d as u64) as usize;
                    let target = &mut out[target + d..target + d + len];
                    widen(&self.sram[from..from + len], conv.signed_weights, conv.weight_zero, target);
                    d += len;
                }
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

    /// Each output position is a row of products with each kernel; four positions share the reads of weights.
    fn dense(&mut self, machine: &Machine, conv: &Conv, weights: &[i16], at: usize) -> Result<(), Fault> {
        const GROUP: usize = 4;
        let [kernel_rows, kernel_cols] = conv.kernel.map(usize::from);
        let (depth, kernels) = (usize::from(conv.depth), usize::from(conv.kernels));
        let taps = kernel_rows * kernel_cols;
        let terms = taps * depth;
        let positions = conv.positions() as usize;
        let mut patches = vec![0i16; GROUP * terms];
        let transposed;
        let weights = if depth == 1 {
            transposed = transpose(weights, taps, kernels);
            &transposed
        } else {
            weights
        };
        for first in (0..positions).step_by(GROUP) {
            let count = GROUP.min(positions - first);
            for p in 0..count {
                for tap in 0..taps {
                    let position = input_address(conv, first + p, tap);
                    let row = &mut patches[p * terms + tap * depth..p * terms + (tap + 1) * depth];
                    self.gather(conv, position, depth, row);
                }
            }
            for (k, row) in weights.chunks_exact(terms).enumerate() {
                let index = accumulator(machine, conv.acc, positions, first, k);
                let sums = dot_rows(&patches, row);
                for (p, &sum) in sums.iter().enumerate().take(count) {
                    self.accumulate(conv, index + p * machine.kernels as usize, sum, at)?;
                }
            }
        }
        Ok(())
    }

    /// All channels of an output position at once.
    fn depthwise(&mut self, machine: &Machine, conv: &Conv, weights: &[i16], at: usize) -> Result<(), Fault> {
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
    fn accumulate(&mut self, conv: &Conv, index: usize, sum: i64, at: usize) -> Result<(), Fault> {
        let old = if conv.accumulate { self.accumulators[index].into() } else { 0 };
        let Ok(sum) = i32::try_from(sum + old) else {
            let fault = Fault::new(FaultClass::Overflow, at, "a sum exceeds 32 bits");
            return Err(fault.place(Memory::Accumulators, index as u64));
        };
        self.accumulators[index] = sum;
        Ok(())
    }

    /// Executes `post`.
    pub fn post(&mut self, machine: &Machine, post: &Post, at: usize) -> Result<(), Fault> {
        let outputs = position_addresses(&post.output, post);
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
                return Err(fault.place(Memory::Sram, from as u64 + 8));
            }
            let table = post.table.map(|t| t as usize + k * post.table_stride as usize);
            let channel = post.output.chan_offset(k as u64) as usize;
            let mut index = accumulator(machine, post.acc, outputs.len(), 0, k);
            for (p, &output) in outputs.iter().enumerate() {
                let sum = i64::from(self.accumulators[index]) + bias;
                let mut value = requantize(sum, scale, shift, post.zero, post.clamp);
                if let Some(residual) = &post.residual {
                    let other = others[p] + residual.feature.chan_offset(k as u64) as usize;
                    value = residual.add(value, self.sram[other]);
                }
                let byte = value as u8;
                self.sram[output + channel] = table.map_or(byte, |table| self.sram[table + usize::from(byte)]);
                index += machine.kernels as usize;
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
fn input_address(conv: &Conv, position: usize, tap: usize) -> Option<u64> {
    let (cols, kernel_cols) = (usize::from(conv.cols), usize::from(conv.kernel[1]));
    let h = conv.input(0, (position / cols) as u16, (tap / kernel_cols) as u16)?;
    let w = conv.input(1, (position % cols) as u16, (tap % kernel_cols) as u16)?;
    Some(u64::from(conv.feature.base) + conv.feature.row_offset(h) + conv.feature.col_offset(w))
}

/// Returns the index of an accumulator.
#[inline]
fn accumulator(machine: &Machine, acc: u32, positions: usize, p: usize, k: usize) -> usize {
    let unit = machine.kernels as usize;
    acc as usize + ((k / unit) * positions + p) * unit + k % unit
}

fn transpose(weights: &[i16], taps: usize, kernels: usize) -> Vec<i16> {
    (0..kernels * taps).map(|i| weights[(i % taps) * kernels + i / taps]).collect()
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

/// Returns the products of four rows with one.
fn dot_rows(rows: &[i16], other: &[i16]) -> [i64; 4] {
    let n = other.len();
    let (rows, mut sums) = ([0, 1, 2, 3].map(|i| &rows[i * n..(i + 1) * n]), [0i64; 4]);
    for first in (0..n).step_by(MAX_SUM) {
        let range = first..n.min(first + MAX_SUM);
        let part = dot(rows.map(|row| &row[range.clone()]), &other[range.clone()]);
        sums.iter_mut().zip(part).for_each(|(sum, part)| *sum += i64::from(part));
    }
    sums
}

/// Four sums at once, which share the reads of `other`; the compiler finds multiply-add instructions of 16 bits.
fn dot(rows: [&[i16]; 4], other: &[i16]) -> [i32; 4] {
    let n = other.len();
    let [a, b, c, d] = rows.map(|row| &row[..n]);
    let mut sums = [0i32; 4];
    for i in 0..n {
        let x = i32::from(other[i]);
        sums[0] += i32::from(a[i]) * x;
        sums[1] += i32::from(b[i]) * x;
        sums[2] += i32::from(c[i]) * x;
        sums[3] += i32::from(d[i]) * x;
    }
    sums
}

/// Returns `value * 2^-shift`, rounded half to even.
fn round(value: i128, shift: u32) -> i128 {
    if shift == 0 {
        return value;
    }
    let floor = value >> shift;
    let (rest, half) = (value - (floor << shift), 1i128 << (shift - 1));
    floor + i128::from(rest > half || (rest == half && floor & 1 == 1))
}

/// Returns `clamp(round(value * scale * 2^-shift) + zero)`.
fn requantize(value: i64, scale: i32, shift: u32, zero: i16, clamp: [i16; 2]) -> i16 {
    let bounds = clamp.map(i64::from);
    let rounded = match value.checked_mul(scale.into()) {
        Some(product) => round64(product, shift),
        None => saturate(round(i128::from(value) * i128::from(scale), shift)),
    };
    rounded.saturating_add(zero.into()).clamp(bounds[0], bounds[1]) as i16
}

fn saturate(value: i128) -> i64 {
    value.clamp(i64::MIN.into(), i64::MAX.into()) as i64
}

fn round64(value: i64, shift: u32) -> i64 {
    if shift == 0 {
        return value;
    }
    let floor = value >> shift;
    let (rest, half) = (value & ((1 << shift) - 1), 1i64 << (shift - 1));
    floor + i64::from(rest > half || (rest == half && floor & 1 == 1))
}

impl Residual {
    /// Returns the clamped sum of a requantized result and a byte of the other feature.
    pub fn add(&self, value: i16, other: u8) -> i16 {
        let other = if self.signed { i128::from(other as i8) } else { i128::from(other) };
        let left = (i128::from(value) - i128::from(self.zero)) * i128::from(self.scale);
        let right = (other - i128::from(self.other_zero)) * i128::from(self.other_scale);
        let sum = round(left + right, self.shift.into()) + i128::from(self.sum_zero);
        sum.clamp(self.sum_clamp[0].into(), self.sum_clamp[1].into()) as i16
    }
}
