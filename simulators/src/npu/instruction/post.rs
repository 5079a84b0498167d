//! Requantization of accumulators: `post`.

use super::Operation;
use crate::fields::records;
use crate::npu::access::{
    AccessSet, Collector, MemorySizes, accumulators, check_accumulators, check_bytes, feature_bytes, read, write,
};
use crate::npu::check::{check_feature, is_byte_range, rules};
use crate::npu::cost::{BankedWords, channel_blocks};
use crate::npu::values::{Ddr, Memories};
use crate::npu::{AddressSpace, Cost, Fault, FaultClass, Feature, NpuMachine};

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
    pub(super) fn align(&mut self, machine: &NpuMachine) {
        (self.acc, self.params, self.table, self.output.base) = (0, 0, None, 0);
        if let Some(residual) = &mut self.residual {
            residual.feature.base %= machine.word_bytes * machine.banks;
        }
    }
}

/// Accumulators to bytes.
pub(super) struct Requantize(pub Post);

impl Operation for Requantize {
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
        memories.post(machine, &self.0, at)
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
