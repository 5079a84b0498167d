//! The bytes that a record reads and writes, exactly. Compilers place synchronization by the same enumeration.
//!
//! A compute record reads its whole tiles and arrays of parameters. A multicast writes the same bytes in each destination.

use super::compute::Compute;
use super::{ClusterMachine, MemoryId, Record, Stage, Stages, StridedBox, Tile, Transfer};
use std::ops::Range;

/// A set of bytes: runs of consecutive bytes at up to three strides.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Runs {
    /// First byte.
    pub first: u64,
    /// Bytes of a run.
    pub bytes: u64,
    /// Counts and strides, the largest stride first; a count of 1 for those that are not needed.
    pub dims: [(u64, u64); 3],
}

impl Runs {
    /// Creates the set of runs of `bytes` bytes at all combinations of multiples of strides. Neighbours are merged.
    pub fn new(first: u64, bytes: u64, mut dims: [(u64, u64); 3]) -> Runs {
        dims.sort_unstable_by_key(|&(count, stride)| (count > 1, stride));
        let mut runs = Runs { first, bytes, dims: [(1, 0); 3] };
        let mut free = 3;
        for (count, stride) in dims.into_iter().filter(|dim| dim.0 != 1) {
            match runs.dims.get_mut(free) {
                None if stride == runs.bytes => runs.bytes = runs.bytes.saturating_mul(count),
                Some(inner) if stride == inner.0.saturating_mul(inner.1) => inner.0 = inner.0.saturating_mul(count),
                _ => {
                    free -= 1;
                    runs.dims[free] = (count, stride);
                }
            }
        }
        runs
    }

    /// Returns the set of a tile.
    pub fn of_tile(tile: &Tile) -> Runs {
        let dims = [(tile.rows, tile.row), (tile.cols, tile.pixel), (tile.channels, tile.channel)];
        Runs::new(tile.offset.into(), tile.elem.bytes().into(), dims.map(|(n, stride)| (n.into(), stride.into())))
    }

    /// Returns the number of runs.
    pub fn count(&self) -> u64 {
        self.dims.iter().fold(1, |n, dim| n.saturating_mul(dim.0))
    }

    /// Returns the number of bytes.
    pub fn total(&self) -> u64 {
        self.count().saturating_mul(self.bytes)
    }

    /// Returns the end of the last run, which saturates.
    pub fn end(&self) -> u64 {
        let last =
            |n: u64, (count, stride): &(u64, u64)| n.saturating_add(count.saturating_sub(1).saturating_mul(*stride));
        self.dims.iter().fold(self.first.saturating_add(self.bytes), last)
    }

    /// Whether each stride is at least the extent of its inner dimensions, so that runs ascend and are disjoint.
    pub fn is_nested(&self) -> bool {
        let mut extent = self.bytes;
        self.dims.iter().rev().filter(|dim| dim.0 > 1).all(|&(count, stride)| {
            let fits = stride >= extent;
            extent = extent.saturating_add((count - 1).saturating_mul(stride));
            fits
        })
    }

    /// Returns the runs, the last stride fastest.
    pub fn ranges(&self) -> impl Iterator<Item = Range<u64>> + use<> {
        let Runs { first, bytes, dims: [a, b, c] } = *self;
        (0..a.0).flat_map(move |i| {
            (0..b.0).flat_map(move |j| {
                (0..c.0).map(move |k| {
                    let start = first + i * a.1 + j * b.1 + k * c.1;
                    start..start + bytes
                })
            })
        })
    }

    /// Whether the set is known to have all bytes of another: it is equal, or one run.
    pub fn covers(&self, other: &Runs) -> bool {
        self == other || self.count() == 1 && self.first <= other.first && other.end() <= self.end()
    }

    /// Whether two nested sets have common bytes.
    pub fn meets(&self, other: &Runs) -> bool {
        if self.end() <= other.first || other.end() <= self.first {
            return false;
        }
        let inner = |runs: &Runs| runs.dims.iter().position(|dim| dim.0 > 1).unwrap_or(runs.dims.len());
        let [a, b] = [self, other].map(|runs| InnerDims { bytes: runs.bytes as i64, dims: &runs.dims[inner(runs)..] });
        meets(a, b, other.first as i64 - self.first as i64)
    }

    /// Returns the first bytes that two nested sets have in common.
    pub fn common(&self, other: &Runs) -> Option<Range<u64>> {
        if !self.meets(other) {
            return None;
        }
        let (mut left, mut right) = (self.ranges(), other.ranges());
        let (mut a, mut b) = (left.next()?, right.next()?);
        loop {
            if a.start < b.end && b.start < a.end {
                return Some(a.start.max(b.start)..a.end.min(b.end));
            }
            if a.end <= b.start { a = left.next()? } else { b = right.next()? }
        }
    }
}

/// Inner dimensions of a set; the outermost has a count above 1.
#[derive(Clone, Copy)]
struct InnerDims<'a> {
    bytes: i64,
    dims: &'a [(u64, u64)],
}

impl<'a> InnerDims<'a> {
    /// Returns count and stride of the outermost dimension, and the rest.
    fn outer(self) -> Option<([i64; 2], InnerDims<'a>)> {
        let (&(count, stride), dims) = self.dims.split_first()?;
        Some(([count as i64, stride as i64], InnerDims { dims, ..self }))
    }

    fn extent(self) -> i64 {
        self.dims.iter().fold(self.bytes, |n, dim| n + (dim.0 as i64 - 1) * dim.1 as i64)
    }
}

/// Whether nested sets meet, the second of which begins `offset` bytes after the first.
fn meets(a: InnerDims<'_>, b: InnerDims<'_>, offset: i64) -> bool {
    let ([na, sa], a_row) = a.outer().unwrap_or(([1, 0], a));
    let ([nb, sb], b_row) = b.outer().unwrap_or(([1, 0], b));
    if sa == sb && sa > 0 {
        // Rows i and j meet for few differences i - j.
        let [ea, eb] = [a_row.extent(), b_row.extent()];
        let first = (offset - ea).div_euclid(sa) + 1;
        let last = (offset + eb - 1).div_euclid(sa);
        return (first.max(1 - nb)..=last.min(na - 1)).any(|k| meets(a_row, b_row, offset - k * sa));
    }
    if sa < sb {
        return meets(b, a, -offset);
    }
    if sa == 0 {
        return -b.bytes < offset && offset < a.bytes;
    }
    // The rows of the set with the larger stride that reach into the other.
    let first = (offset - a_row.extent()).div_euclid(sa) + 1;
    let last = (offset + b.extent() - 1).div_euclid(sa);
    (first.max(0)..=last.min(na - 1)).any(|i| meets(a_row, b, offset - i * sa))
}

/// An access of a record.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RecordAccess {
    /// The memory.
    pub memory: MemoryId,
    /// Whether the bytes are written; else they are read.
    pub writes: bool,
    /// The bytes.
    pub runs: Runs,
}

/// Calls `f` with each access of a record of cluster `here`, reads first. Fields need not be valid.
pub fn accesses(record: &Record, here: usize, f: &mut dyn FnMut(RecordAccess)) {
    let local = MemoryId::Cluster(here);
    match record {
        Record::Fetch { transfer, clusters, .. } => {
            f(RecordAccess { memory: MemoryId::Ddr, writes: false, runs: side(transfer, &transfer.from) });
            multicast(transfer, *clusters, f);
        }
        Record::Store { transfer, .. } => {
            f(RecordAccess { memory: local, writes: false, runs: side(transfer, &transfer.from) });
            f(RecordAccess { memory: MemoryId::Ddr, writes: true, runs: side(transfer, &transfer.to) });
        }
        Record::Send { transfer, clusters, .. } => {
            f(RecordAccess { memory: local, writes: false, runs: side(transfer, &transfer.from) });
            multicast(transfer, *clusters, f);
        }
        Record::Notify { .. } | Record::Wait { .. } => {}
        _ => {
            compute_reads(record, &mut |runs| f(RecordAccess { memory: local, writes: false, runs }));
            if let Some(output) = record.output() {
                f(RecordAccess { memory: local, writes: true, runs: Runs::of_tile(output) });
            }
        }
    }
}

/// Returns the bytes of one side of a transfer.
fn side(transfer: &Transfer, place: &StridedBox) -> Runs {
    let dims = [(transfer.rows.into(), place.row.into()), (transfer.cols.into(), place.pixel.into()), (1, 0)];
    Runs::new(place.offset.into(), transfer.bytes.into(), dims)
}

fn multicast(transfer: &Transfer, clusters: u32, f: &mut dyn FnMut(RecordAccess)) {
    let runs = side(transfer, &transfer.to);
    members(clusters).for_each(|i| f(RecordAccess { memory: MemoryId::Cluster(i), writes: true, runs }));
}

/// Returns the clusters of a mask.
pub(super) fn members(mut mask: u32) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let next = (mask != 0).then(|| mask.trailing_zeros() as usize);
        mask &= mask.wrapping_sub(1);
        next
    })
}

/// Calls `f` with the bytes that a compute record reads.
fn compute_reads(record: &Record, f: &mut dyn FnMut(Runs)) {
    let bytes = |first: u32, count: u64| Runs::new(first.into(), count, [(1, 0); 3]);
    if let Some(input) = record.input() {
        f(Runs::of_tile(input));
    }
    if let Some(compute) = record.compute() {
        compute.parameters(&mut |first, count| f(bytes(first, count)));
    }
    let Some((stages, output)) = record.stages().zip(record.output()) else { return };
    let channels = u64::from(output.channels);
    for stage in stages.iter().flatten() {
        match stage {
            Stage::Requantize { scales, .. } => f(bytes(*scales, 4 * channels)),
            Stage::Affine { scales } => f(bytes(*scales, 8 * channels)),
            Stage::Table { tables, per_channel, .. } => {
                f(bytes(*tables, if *per_channel { 256 * channels } else { 256 }));
            }
            _ => stage.other().into_iter().for_each(|other| f(Runs::of_tile(other))),
        }
    }
}

impl Record {
    /// Returns the stages of a compute record that has some.
    pub fn stages(&self) -> Option<&Stages> {
        self.compute()?.stages()
    }

    /// Returns the event that the record counts, and the clusters in which it does, for a record of cluster `here`.
    pub fn counts(&self, here: usize) -> Option<(u32, u32)> {
        match *self {
            Record::Fetch { clusters, event, .. }
            | Record::Send { clusters, event, .. }
            | Record::Notify { clusters, event } => Some((event, clusters)),
            Record::Store { event, .. } => Some((event, 1 << here)),
            _ => None,
        }
    }

    /// Returns the transfer.
    pub fn transfer(&self) -> Option<&Transfer> {
        match self {
            Record::Fetch { transfer, .. } | Record::Store { transfer, .. } | Record::Send { transfer, .. } => {
                Some(transfer)
            }
            _ => None,
        }
    }

    /// Returns the number of products of a convolution, those with padding included; 0 of other records.
    pub fn products(&self) -> u64 {
        self.compute().map_or(0, Compute::products)
    }

    /// Returns the cycles of the products of a convolution on a machine; 0 of other records.
    pub fn product_cycles(&self, machine: &ClusterMachine) -> u64 {
        self.compute().map_or(0, |compute| compute.product_cycles(machine))
    }
}

/// Whether two tiles have the same elements at the same bytes.
pub(super) fn is_same_place(a: &Tile, b: &Tile) -> bool {
    let extents = |tile: &Tile| [tile.rows, tile.cols, tile.channels, tile.elem.bytes()];
    extents(a) == extents(b) && Runs::of_tile(a) == Runs::of_tile(b) && a.is_ordered_like(b)
}

impl Tile {
    /// Whether the strides that matter are equal.
    fn is_ordered_like(&self, other: &Tile) -> bool {
        let strides = |t: &Tile| [(t.rows, t.row), (t.cols, t.pixel), (t.channels, t.channel)];
        strides(self).into_iter().zip(strides(other)).all(|(a, b)| a.0 == 1 || a.1 == b.1)
    }
}
