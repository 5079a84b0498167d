//! Requantization of accumulators: `post`.

use super::unit_instruction::UnitInstruction;
use crate::fields::records;
use crate::npu::access::{
    AccessSet, Collector, MemorySizes, accumulators, check_accumulators, check_bytes, feature_bytes, read, write,
};
use crate::npu::check::{check_feature, is_byte_range, rules};
use crate::npu::cost::{BankedWords, channel_blocks};
use crate::npu::operands::Feature;
use crate::npu::values::{Ddr, Memories, accumulator};
use crate::npu::{AddressSpace, Cost, Fault, FaultClass, NpuMachine};

/// A sum of the result with another feature, after the first requantization: with `a` and `b` the bytes,
/// `round(((a - zero) * scale + (b - other_zero) * other_scale) * 2^-shift)`, half to even.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Residual {
    /// The other feature, of the result's extents.
    pub feature: Feature,
    /// Zero point of the requantized result.
    pub zero: i16,
    /// Zero point of the other feature.
    pub other_zero: i16,
    /// Factor of the requantized result.
    pub scale: i32,
    /// Factor of the other feature.
    pub other_scale: i32,
    /// Binary places of the factors, 0 to 62.
    pub shift: u8,
    /// Whether bytes of the other feature are signed.
    pub signed: bool,
    /// Zero point of the sum.
    pub sum_zero: i16,
    /// Bounds of the sum.
    pub sum_clamp: [i16; 2],
}

/// Requantizes accumulators and writes bytes: `clamp(round((acc + bias) * scale * 2^-shift) + zero)`, half to even, followed by
/// the residual and by the table, if there are any.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Post {
    /// First accumulator, as of the convolution.
    pub acc: u32,
    /// Rows of the output.
    pub rows: u16,
    /// Columns of the output.
    pub cols: u16,
    /// Number of kernels.
    pub kernels: u16,
    /// First byte of the parameters in SRAM: for each kernel 12 bytes, `bias: i32`, `scale: i32`, `shift: u32` of 0 to 62. A
    /// `param_stride` of 0 repeats those of the first kernel.
    pub params: u32,
    /// Bytes between the parameters of kernels: 12 or 0.
    pub param_stride: u32,
    /// Zero point of the result.
    pub zero: i16,
    /// Bounds of the result.
    pub clamp: [i16; 2],
    /// The residual.
    pub residual: Option<Residual>,
    /// First byte of a table in SRAM, which replaces result `r` of kernel `k` by the byte at
    /// `table + k * table_stride + (r as u8)`, two's complement.
    pub table: Option<u32>,
    /// Bytes between the tables of kernels: 256 or 0.
    pub table_stride: u32,
    /// The output.
    pub output: Feature,
}

records! {
    Residual { feature, zero, other_zero, scale, other_scale, shift, signed, sum_zero, sum_clamp }
    Post {
        acc, rows, cols, kernels, params, param_stride, zero, clamp, residual, table, table_stride, output
    }
}

impl Post {
    /// Reduces addresses to those of the same cost.
    pub(in crate::npu) fn align(&mut self, machine: &NpuMachine) {
        (self.acc, self.params, self.table, self.output.base) = (0, 0, None, 0);
        if let Some(residual) = &mut self.residual {
            residual.feature.base %= machine.word_bytes * machine.banks;
        }
    }
}

/// Accumulators to bytes.
pub(super) struct PostInstruction(pub Post);

impl UnitInstruction for PostInstruction {
    fn check(&self, machine: &NpuMachine) -> Result<(), &'static str> {
        let post = &self.0;
        check_feature(&post.output)?;
        rules(&[
            (post.rows >= 1 && post.cols >= 1 && post.kernels >= 1, "the result has at least one element"),
            (post.acc.is_multiple_of(machine.kernels), "the first accumulator begins a block"),
            (matches!(post.param_stride, 0 | 12), "parameters are 12 bytes apart, or repeated with 0"),
            (matches!(post.table_stride, 0 | 256), "tables are 256 bytes apart, or repeated with 0"),
            (is_byte_range(post.clamp), "the bounds of a result are bytes"),
        ])?;
        let Some(residual) = &post.residual else { return Ok(()) };
        check_feature(&residual.feature)?;
        rules(&[
            (residual.shift <= 62, "a shift is at most 62"),
            (is_byte_range(residual.sum_clamp), "the bounds of a sum are bytes"),
        ])
    }

    fn is_bounded(&self, machine: &NpuMachine) -> bool {
        let post = &self.0;
        let items =
            u64::from(post.rows) * u64::from(post.cols) * u64::from(post.kernels).div_ceil(machine.kernels.into());
        items <= u64::from(machine.accumulators)
    }

    fn cost(&self, machine: &NpuMachine) -> Cost {
        cost(machine, &self.0)
    }

    fn accesses(&self, machine: &NpuMachine, sizes: MemorySizes, at: usize) -> Result<Vec<AccessSet>, Fault> {
        let post = &self.0;
        let positions = u64::from(post.rows) * u64::from(post.cols);
        check_accumulators(machine, post.acc, positions, post.kernels, at)?;
        check_bytes(1, &[post.rows.into(), post.cols.into(), post.kernels.into()], sizes.sram, at)?;
        let (rows, cols): (Vec<u64>, Vec<u64>) = ((0..post.rows.into()).collect(), (0..post.cols.into()).collect());
        let of_kernels = |first: u32, stride: u32, len: u64| {
            let mut out = Collector::default();
            let kernels = if stride == 0 { 1 } else { u64::from(post.kernels) };
            (0..kernels).for_each(|k| out.push(u64::from(first) + k * u64::from(stride), len));
            read(AddressSpace::Sram, true, out)
        };
        let acc = accumulators(machine, post.acc, positions, post.kernels);
        let mut list =
            vec![read(AddressSpace::Accumulators, true, acc), of_kernels(post.params, post.param_stride, 12)];
        // The residual is the third, which may be where the result is.
        if let Some(residual) = &post.residual {
            let mut out = Collector::default();
            feature_bytes(&mut out, &residual.feature, &rows, &cols, post.kernels.into());
            list.push(read(AddressSpace::Sram, true, out));
        }
        if let Some(table) = post.table {
            list.push(of_kernels(table, post.table_stride, 256));
        }
        let mut output = Collector::default();
        feature_bytes(&mut output, &post.output, &rows, &cols, post.kernels.into());
        let twice = Fault::new(FaultClass::Overlap, at, "a post writes a byte twice");
        list.push(write(AddressSpace::Sram, output).ok_or(twice)?);
        Ok(list)
    }

    fn replaces_third(&self) -> bool {
        self.0.residual.is_some_and(|residual| residual.feature == self.0.output)
    }

    fn work(&self) -> u64 {
        u64::from(self.0.rows) * u64::from(self.0.cols) * u64::from(self.0.kernels)
    }

    fn execute(&self, machine: &NpuMachine, memories: &mut Memories, _: &mut Ddr, at: usize) -> Result<(), Fault> {
        execute(machine, memories, &self.0, at)
    }
}

/// Returns the cycles of a requantization. The pipe takes `post_width` values per cycle, in blocks of kernels of consecutive positions.
/// The same groups of a residual are read at the same time; a word beyond one per bank and cycle is a stall.
fn cost(machine: &NpuMachine, post: &Post) -> Cost {
    let (unit, width) = (u64::from(machine.kernels), u64::from(machine.post_width));
    let positions = u64::from(post.rows) * u64::from(post.cols);
    let items = positions * u64::from(post.kernels).div_ceil(unit);
    let mut cost = Cost::default();
    if let Some(residual) = &post.residual {
        let blocks = channel_blocks(&residual.feature, post.kernels.into(), unit);
        let (per_group, budget) = ((width / unit).max(1), unit.div_ceil(width));
        let mut words = BankedWords::new(machine);
        let mut at = 0;
        for &(offset, pattern) in &blocks.list {
            for p in 0..positions {
                let (h, w) = (p / u64::from(post.cols), p % u64::from(post.cols));
                let base = residual.feature.address(h, w, 0) + offset;
                blocks.patterns[pattern].runs.iter().for_each(|&(start, len)| words.add(base + start, len));
                at += 1;
                if at % per_group == 0 || at == items {
                    cost.bank_stalls += words.cost().saturating_sub(budget);
                    words.clear();
                }
            }
        }
    }
    cost.cycles = (items * unit).div_ceil(width) + cost.bank_stalls + u64::from(machine.post_latency);
    cost
}

/// Computes the bytes of the result.
fn execute(machine: &NpuMachine, memories: &mut Memories, post: &Post, at: usize) -> Result<(), Fault> {
    let outputs = position_addresses(&post.output, post);
    let mut values = vec![0; outputs.len()];
    let (unit, residual) = (machine.kernels as usize, post.residual.map(|r| (r, Rounding::new(r.shift.into()))));
    let others = post.residual.map_or(Vec::new(), |residual| position_addresses(&residual.feature, post));
    for k in 0..usize::from(post.kernels) {
        let from = post.params as usize + k * post.param_stride as usize;
        let word = |i: usize| {
            let b = &memories.sram[from + 4 * i..from + 4 * i + 4];
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
        let sums = memories.accumulators[index..].iter().step_by(unit);
        for (value, &sum) in values.iter_mut().zip(sums) {
            *value = requantization.apply(i64::from(sum) + bias);
        }
        if let Some((residual, rounding)) = &residual {
            for (value, other) in values.iter_mut().zip(&others) {
                *value = residual.add(rounding, *value, memories.sram[other + other_channel]);
            }
        }
        for (&value, output) in values.iter().zip(&outputs) {
            let byte = value as u8;
            memories.sram[output + channel] = table.map_or(byte, |table| memories.sram[table + usize::from(byte)]);
        }
    }
    Ok(())
}

/// Returns the address of channel 0 of each position.
fn position_addresses(feature: &Feature, post: &Post) -> Vec<usize> {
    let of_row = |h: u16| (0..post.cols).map(move |w| feature.address(h.into(), w.into(), 0) as usize);
    (0..post.rows).flat_map(of_row).collect()
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

/// Multiplication by `2^-shift`, rounded half to even.
#[derive(Clone, Copy)]
struct Rounding {
    shift: u32,
    /// The bits that are rounded.
    mask: i64,
    /// One less than a half: what is added before the shift.
    offset: i64,
    /// The bit of the quotient that is added as well, so that a half is rounded to even; 0 if nothing is rounded.
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
