//! The bytes and accumulators that an instruction reads and writes, exactly.

use super::{AddressSpace, Conv, Fault, FaultClass, Feature, NpuInst, NpuMachine, Transfer};
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

/// Returns the accesses of an instruction whose fields are valid, reads first.
///
/// # Errors
/// An access out of bounds, or overlapping accesses of the instruction.
pub(super) fn accesses(
    machine: &NpuMachine,
    inst: &NpuInst,
    sizes: MemorySizes,
    at: usize,
) -> Result<Vec<AccessSet>, Fault> {
    let overlap = |reason| Fault::new(FaultClass::Overlap, at, reason);
    let list = inst.operation(|operation| operation.accesses(machine, sizes, at)).unwrap_or(Ok(Vec::new()))?;
    for access in &list {
        let size = match access.memory {
            AddressSpace::Sram => sizes.sram,
            AddressSpace::Accumulators => sizes.accumulators,
            AddressSpace::Ddr => sizes.ddr,
        };
        if let Some(last) = access.ranges.last().filter(|r| r.end > size) {
            let fault = Fault::new(FaultClass::Bounds, at, "an access ends beyond the memory");
            return Err(fault.place(access.memory, last.end - 1));
        }
    }
    let [reads @ .., output] = &list[..] else { return Ok(list) };
    let in_place = inst.operation(|operation| operation.replaces_third()).unwrap_or(false);
    for (i, other) in reads.iter().enumerate().filter(|(_, r)| r.memory == output.memory && !r.writes) {
        let is_in_place = (in_place && i == 2) || output.memory == AddressSpace::Accumulators;
        if let Some(address) = first_common(&other.ranges, &output.ranges).filter(|_| !is_in_place) {
            return Err(overlap("an instruction writes a byte that it reads").place(output.memory, address));
        }
    }
    Ok(list)
}

pub(super) fn read(memory: AddressSpace, uses: bool, ranges: Collector) -> AccessSet {
    AccessSet { memory, writes: false, uses, ranges: ranges.finish(false).unwrap_or_default() }
}

pub(super) fn write(memory: AddressSpace, ranges: Collector) -> Option<AccessSet> {
    Some(AccessSet { memory, writes: true, uses: false, ranges: ranges.finish(true)? })
}

fn first_common(a: &[Range<u64>], b: &[Range<u64>]) -> Option<u64> {
    let (mut i, mut j) = (0, 0);
    while let (Some(x), Some(y)) = (a.get(i), b.get(j)) {
        if x.start < y.end && y.start < x.end {
            return Some(x.start.max(y.start));
        }
        if x.end <= y.end { i += 1 } else { j += 1 }
    }
    None
}

/// Rejects more bytes than the target holds, before they are enumerated.
pub(super) fn check_bytes(run: u32, counts: &[u32], size: u64, at: usize) -> Result<(), Fault> {
    let total = counts.iter().try_fold(u64::from(run), |n, &c| n.checked_mul(c.into()));
    match total {
        Some(total) if total <= size => Ok(()),
        _ => Err(Fault::new(FaultClass::Bounds, at, "more bytes than the target holds")),
    }
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

pub(super) fn runs<const N: usize>(base: u32, run: u32, counts: &[u32; N], strides: &[u32; N]) -> Collector {
    let mut out = Collector::default();
    for_each_run(counts, |index| out.push(u64::from(base) + offset(index, strides), run.into()));
    out
}

impl Feature {
    /// Returns the offset of a row.
    pub(super) fn row_offset(&self, h: u64) -> u64 {
        h * u64::from(self.row)
    }

    /// Returns the offset of a column.
    pub(super) fn col_offset(&self, w: u64) -> u64 {
        let tile = u64::from(self.tile_w);
        (w / tile) * u64::from(self.col) + (w % tile) * u64::from(self.tile_c)
    }

    /// Returns the offset of a channel.
    pub(super) fn chan_offset(&self, c: u64) -> u64 {
        let tile = u64::from(self.tile_c);
        (c / tile) * u64::from(self.chan) + c % tile
    }

    /// Returns the address of an element.
    pub fn address(&self, h: u64, w: u64, c: u64) -> u64 {
        u64::from(self.base) + self.row_offset(h) + self.col_offset(w) + self.chan_offset(c)
    }

    /// Calls `f` with the first channel, the offset and the number of contiguous channels of each block of `channels`.
    pub(super) fn for_each_channel_run(&self, channels: Range<u64>, mut f: impl FnMut(u64, u64, u64)) {
        let (tile, mut c) = (u64::from(self.tile_c), channels.start);
        while c < channels.end {
            let len = (tile - c % tile).min(channels.end - c);
            f(c, self.chan_offset(c), len);
            c += len;
        }
    }
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

impl Conv {
    /// Returns the input coordinate of an output coordinate and a tap along an axis; `None` in the padding.
    pub(super) fn input(&self, axis: usize, output: u16, tap: u16) -> Option<u64> {
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
}

/// Offsets of weights: the address is `base` plus one term each for tap, kernel and depth.
impl super::Weights {
    /// Returns the bytes from the first to the last element that a convolution reads.
    pub(super) fn extent(&self, conv: &Conv) -> Range<u64> {
        let last = |n: u16| u64::from(n).saturating_sub(1);
        let tap = self.tap_offset(last(conv.kernel[0]), last(conv.kernel[1]));
        let end = tap + self.kernel_offset(last(conv.kernels)) + self.depth_offset(last(conv.depth)) + 1;
        u64::from(self.base)..u64::from(self.base) + end
    }

    /// Returns the offset of a tap.
    pub(super) fn tap_offset(&self, y: u64, x: u64) -> u64 {
        let tile = u64::from(self.tile_w);
        let inner = (x % tile) * u64::from(self.tile_k) * u64::from(self.tile_d);
        y * u64::from(self.ky) + (x / tile) * u64::from(self.kx) + inner
    }

    /// Returns the offset of a kernel.
    pub(super) fn kernel_offset(&self, k: u64) -> u64 {
        let tile = u64::from(self.tile_k);
        (k / tile) * u64::from(self.kernel) + (k % tile) * u64::from(self.tile_d)
    }

    /// Returns the offset of a depth value.
    pub(super) fn depth_offset(&self, d: u64) -> u64 {
        let tile = u64::from(self.tile_d);
        (d / tile) * u64::from(self.depth) + d % tile
    }

    /// Returns the address of an element.
    pub fn address(&self, y: u64, x: u64, k: u64, d: u64) -> u64 {
        u64::from(self.base) + self.tap_offset(y, x) + self.kernel_offset(k) + self.depth_offset(d)
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

/// Returns the contiguous runs of a transfer in DDR, adjacent ones merged, as addresses and lengths.
pub(super) fn for_each_ddr_run(t: &Transfer, mut f: impl FnMut(u64, u64)) {
    let (mut run, mut counts) = (u64::from(t.run), t.counts);
    for i in (0..3).rev() {
        if counts[i] != 1 && u64::from(t.ddr_strides[i]) != run {
            break;
        }
        run *= u64::from(counts[i]);
        counts[i] = 1;
    }
    for_each_run(&counts, |index| f(u64::from(t.ddr) + offset(index, &t.ddr_strides), run));
}
