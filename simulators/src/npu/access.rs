//! The bytes and accumulators that an instruction reads and writes, exactly.

use super::operands::Feature;
use super::{AddressSpace, Fault, FaultClass, NpuMachine};
use std::ops::Range;

/// A set of addresses of one memory, as ascending ranges with gaps between them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct AccessSet {
    pub memory: AddressSpace,
    pub writes: bool,
    /// Whether a result depends on the values, so that they must not be poison.
    pub uses: bool,
    pub ranges: Vec<Range<u64>>,
}

/// Sizes of the memories.
#[derive(Clone, Copy)]
pub(super) struct MemorySizes {
    pub sram: u64,
    pub accumulators: u64,
    pub ddr: u64,
}

impl MemorySizes {
    /// The size of a memory.
    pub fn of(self, memory: AddressSpace) -> u64 {
        match memory {
            AddressSpace::Sram => self.sram,
            AddressSpace::Accumulators => self.accumulators,
            AddressSpace::Ddr => self.ddr,
        }
    }
}

/// Collects ranges; neighbours in ascending order are merged at once.
#[derive(Default)]
pub(super) struct Collector {
    pub ranges: Vec<Range<u64>>,
    count: u64,
}

impl Collector {
    pub fn push(&mut self, start: u64, len: u64) {
        self.count += len;
        match self.ranges.last_mut() {
            Some(last) if last.end == start => last.end += len,
            _ => self.ranges.push(start..start + len),
        }
    }

    /// Returns the set; `None` if an address was pushed twice and `once` is set.
    pub fn finish(mut self, once: bool) -> Option<Vec<Range<u64>>> {
        self.ranges.sort_unstable_by_key(|r| r.start);
        self.ranges.dedup_by(|next, last| {
            let joins = next.start <= last.end;
            if joins {
                last.end = last.end.max(next.end);
            }
            joins
        });
        let total: u64 = self.ranges.iter().map(|r| r.end - r.start).sum();
        (!once || total == self.count).then_some(self.ranges)
    }
}

pub(super) fn read(memory: AddressSpace, uses: bool, ranges: Collector) -> AccessSet {
    AccessSet { memory, writes: false, uses, ranges: ranges.finish(false).unwrap_or_default() }
}

pub(super) fn write(memory: AddressSpace, ranges: Collector) -> Option<AccessSet> {
    Some(AccessSet { memory, writes: true, uses: false, ranges: ranges.finish(true)? })
}

pub(super) fn first_common(a: &[Range<u64>], b: &[Range<u64>]) -> Option<u64> {
    let (mut i, mut j) = (0, 0);
    while let (Some(x), Some(y)) = (a.get(i), b.get(j)) {
        if x.start < y.end && y.start < x.end {
            return Some(x.start.max(y.start));
        }
        if x.end <= y.end { i += 1 } else { j += 1 }
    }
    None
}

/// The number of bytes of a nest of runs.
pub(super) fn total(run: u32, counts: &[u32]) -> u64 {
    counts.iter().fold(run.into(), |n: u64, &count| n.saturating_mul(count.into()))
}

/// Rejects more bytes than the target holds, before they are enumerated.
pub(super) fn check_bytes(run: u32, counts: &[u32], size: u64, at: usize) -> Result<(), Fault> {
    let fault = Fault::new(FaultClass::Bounds, at, "more bytes than the target holds");
    if total(run, counts) <= size { Ok(()) } else { Err(fault) }
}

/// Returns the accesses of a copy of a nest of runs, from and to a memory, a first byte and strides. `twice` is the reason why it is rejected
/// if a byte is written twice.
///
/// # Errors
/// That, and more bytes than the target holds.
pub(super) fn copy_accesses<const N: usize>(
    (run, counts): (u32, &[u32; N]),
    [from, to]: [(AddressSpace, u32, &[u32; N]); 2],
    sizes: MemorySizes,
    (at, twice): (usize, &'static str),
) -> Result<Vec<AccessSet>, Fault> {
    check_bytes(run, counts, sizes.of(to.0), at)?;
    let [source, target] = [from, to].map(|(_, base, strides)| runs(base, run, counts, strides));
    let target = write(to.0, target).ok_or_else(|| Fault::new(FaultClass::Overlap, at, twice))?;
    Ok(vec![read(from.0, false, source), target])
}

/// Calls `f` with the offset of each run of a nest, the last index fastest.
pub(super) fn for_each_run<const N: usize>(counts: &[u32; N], mut f: impl FnMut([u64; N])) {
    let mut index = [0u64; N];
    loop {
        f(index);
        let Some(i) = (0..N).rev().find(|&i| index[i] + 1 < u64::from(counts[i])) else { return };
        index[i] += 1;
        index[i + 1..].fill(0);
    }
}

/// Returns the offset of a run.
pub(super) fn offset<const N: usize>(index: [u64; N], strides: &[u32; N]) -> u64 {
    index.iter().zip(strides).map(|(&i, &s)| i * u64::from(s)).sum()
}

fn runs<const N: usize>(base: u32, run: u32, counts: &[u32; N], strides: &[u32; N]) -> Collector {
    let mut out = Collector::default();
    for_each_run(counts, |index| out.push(u64::from(base) + offset(index, strides), run.into()));
    out
}

/// Collects the bytes of a feature at some rows and columns.
pub(super) fn feature_bytes(out: &mut Collector, feature: &Feature, rows: &[u64], cols: &[u64], channels: u64) {
    // The smaller stride is inside, so that runs are neighbours.
    for &h in rows {
        let row = u64::from(feature.base) + feature.row_offset(h);
        if feature.chan < feature.col {
            for &w in cols {
                let position = row + feature.col_offset(w);
                feature.for_each_channel_run(0..channels, |_, chan, len| out.push(position + chan, len));
            }
        } else {
            let first = cols.first().copied().unwrap_or(0);
            let is_dense = feature.tile_w == 1 && cols.last().is_some_and(|last| last - first + 1 == cols.len() as u64);
            feature.for_each_channel_run(0..channels, |_, chan, len| {
                // Neighbouring columns of whole blocks are one run.
                if is_dense && u64::from(feature.col) == len {
                    out.push(row + chan + feature.col_offset(first), len * cols.len() as u64);
                    return;
                }
                cols.iter().for_each(|&w| out.push(row + chan + feature.col_offset(w), len));
            });
        }
    }
}

/// Returns the accumulators of a result.
pub(super) fn accumulators(machine: &NpuMachine, acc: u32, positions: u64, kernels: u16) -> Collector {
    let (unit, kernels) = (u64::from(machine.kernels), u64::from(kernels));
    let (full, tail) = (kernels / unit, kernels % unit);
    let mut out = Collector::default();
    out.push(acc.into(), full * positions * unit);
    if tail > 0 {
        (0..positions).for_each(|p| out.push(u64::from(acc) + (full * positions + p) * unit, tail));
    }
    out.ranges.retain(|r| r.start < r.end);
    out
}

pub(super) fn check_accumulators(
    machine: &NpuMachine,
    acc: u32,
    positions: u64,
    kernels: u16,
    at: usize,
) -> Result<(), Fault> {
    let unit = u64::from(machine.kernels);
    let padded = positions.saturating_mul(u64::from(kernels).div_ceil(unit)).saturating_mul(unit);
    if padded.saturating_add(acc.into()) <= machine.accumulators.into() {
        return Ok(());
    }
    let fault = Fault::new(FaultClass::Bounds, at, "more accumulators than there are");
    Err(fault.place(AddressSpace::Accumulators, machine.accumulators.into()))
}
