//! Convolution of images with channels first, in which each filter reads several channels.
//!
//! A vector holds neighbouring positions of an output row, and each weight is a broadcast, for a block of filters at once. Columns of the
//! image are read where they are, or, where windows need padding or strides along a row, from a copy of some rows of all channels with
//! their padding, in phases of the stride, so that what a tap reads for neighbouring positions is contiguous.

#![allow(clippy::needless_range_loop, reason = "loops of constant length are unrolled, and arrays become registers")]

use super::partial::{OnPartial, Partial, on_rows};
use super::planes::PlaneAxis;
use crate::vector::{Isa, MAX_LANES};
use crate::workers::{DisjointWriter, Workers};
use crate::{ElementwiseEpilogue, KernelError};
use std::ops::Range;

/// Maximum number of filters that are computed at once.
const FILTERS: usize = 6;
/// Number of vectors of positions of each filter, if there are few or many at once: as many sums as additions that wait for each other.
const VECTORS: [usize; 2] = [4, 2];
/// Maximum number of few filters.
const FEW: usize = 3;
/// Positions of a row that are computed for all filters before the next, so that what they read stays in the L1 cache.
const TILE: usize = 64;
/// Elements of a page.
const PAGE: usize = 1 << 10;
/// Maximum stride of axes that are shorter, and distance of the last tap beyond the extent of the image: copies are not much larger.
const MAX_STRIDE: i64 = 16;
const MAX_REACH: i64 = 256;
/// Elements of the copy of rows, if one row of the result does not need more, and positions along its rows.
const COPY: usize = 48 << 10;
const COLUMNS: usize = 4096;

/// The filters and windows of a convolution.
#[derive(Clone, Debug)]
pub struct PlaneFilters {
    rows: PlaneAxis,
    columns: PlaneAxis,
    groups: usize,
    /// Channels and filters of a group.
    channels: usize,
    filters: usize,
    /// Number of filters of each block of a group.
    blocks: Vec<usize>,
    /// Weights of each block of each group: for each tap of each channel, one per filter.
    weights: Vec<f32>,
    /// For each tap along a row: its phase, and its index there for position 0.
    taps: Vec<(usize, usize)>,
}

/// The operands of a convolution.
#[derive(Clone, Copy, Debug)]
pub struct PlaneSums<'a> {
    /// The planes of all images.
    pub a: &'a [f32],
    /// Bias, one per filter.
    pub bias: Option<&'a [f32]>,
    /// Residual, added to the result elementwise.
    pub add: Option<&'a [f32]>,
    /// The functions of each element.
    pub elementwise: ElementwiseEpilogue,
}

impl PlaneFilters {
    /// Packs `weights`, `[groups * filters, channels * rows.taps * columns.taps]`. `None` if extents are too large, or do not fit.
    pub fn new(
        rows: PlaneAxis,
        columns: PlaneAxis,
        [groups, channels]: [usize; 2],
        weights: &[f32],
    ) -> Option<PlaneFilters> {
        let is_near = |axis: &PlaneAxis| {
            axis.is_small()
                && axis.stride <= axis.input.max(MAX_STRIDE)
                && (axis.taps - 1) * axis.dilation <= axis.input + MAX_REACH
        };
        (is_near(&rows) && is_near(&columns)).then_some(())?;
        let (rows, columns) = merged(rows, columns);
        let depth = channels.checked_mul((rows.taps * columns.taps) as usize).filter(|&depth| depth > 0)?;
        let filters = weights.len().checked_div(groups)? / depth;
        (filters > 0 && groups * filters * depth == weights.len()).then_some(())?;
        let planes = [rows.input * columns.input, rows.outputs * columns.outputs].map(|n| n as usize);
        groups.checked_mul(channels)?.checked_mul(planes[0])?;
        groups.checked_mul(filters)?.checked_mul(planes[1])?;
        let count = filters.div_ceil(FILTERS);
        let blocks: Vec<usize> = (0..count).map(|i| (i + 1) * filters / count - i * filters / count).collect();
        let mut packed = Vec::with_capacity(weights.len());
        for group in weights.chunks_exact(filters * depth) {
            let mut first = 0;
            for &block in &blocks {
                packed.extend(
                    (0..depth).flat_map(|k| (first..first + block).map(move |filter| group[filter * depth + k])),
                );
                first += block;
            }
        }
        let stride = columns.stride as usize;
        let taps = (0..columns.taps as usize).map(|t| t * columns.dilation as usize);
        let taps = taps.map(|at| (at % stride, at / stride)).collect();
        Some(PlaneFilters { rows, columns, groups, channels, filters, blocks, weights: packed, taps })
    }

    /// Returns the number of elements of a plane of the image and of the result.
    fn planes(&self) -> [usize; 2] {
        let PlaneFilters { rows, columns, .. } = self;
        [(rows.input * columns.input) as usize, (rows.outputs * columns.outputs) as usize]
    }

    /// Returns the number of summands.
    fn depth(&self) -> usize {
        self.channels * (self.rows.taps * self.columns.taps) as usize
    }

    /// Whether vectors of `lanes` can be read where they are: without padding or strides along a row, and with whole vectors. The same
    /// positions of many channels at a distance of pages would use the same lines of a cache.
    fn is_direct(&self, lanes: usize) -> bool {
        let PlaneAxis { input, outputs, taps, stride, dilation, start } = self.columns;
        let is_spread = self.channels < 4 || !self.planes()[0].is_multiple_of(PAGE);
        let is_inside = stride == 1 && start >= 0 && start + outputs - 1 + (taps - 1) * dilation < input;
        is_spread && is_inside && outputs as usize >= lanes
    }

    /// Computes a plane of the result for each filter and image.
    ///
    /// # Errors
    /// Incompatible sizes.
    pub fn compute(&self, isa: Isa, workers: &Workers, sums: PlaneSums<'_>, c: &mut [f32]) -> Result<(), KernelError> {
        let ([input, output], filters) = (self.planes(), self.groups * self.filters);
        let images = sums.a.len() / (input * self.groups * self.channels);
        let is_whole = images * input * self.groups * self.channels == sums.a.len()
            && images.checked_mul(output * filters) == Some(c.len())
            && sums.bias.is_none_or(|bias| bias.len() == filters)
            && sums.add.is_none_or(|add| add.len() == c.len());
        if !is_whole || !isa.is_supported() {
            return Err(format!("{} elements are no whole planes of {} channels", sums.a.len(), self.channels).into());
        }
        let threads = workers.for_steps((c.len() / 16).saturating_mul(self.depth()));
        let run = PlaneSumming { filters: self, sums, c: DisjointWriter::new(c) };
        workers.share(threads, self.parts(images, Workers::parts(threads)), |part| {
            // SAFETY: sizes were checked above, each element of the result belongs to one part, and `isa` is supported.
            unsafe { on_rows(isa, part.columns.len(), PartSumming { run: &run, part }) }
        });
        Ok(())
    }

    /// Divides the result into about as many parts, if there are as many: groups of an image, rows, or columns of the only row.
    fn parts(&self, images: usize, least: usize) -> impl Iterator<Item = PlanePart> {
        let (rows, columns, groups) = (self.rows.outputs as usize, self.columns.outputs as usize, self.groups);
        let sets = least.div_ceil(images.max(1)).min(groups);
        let bands = least.div_ceil((images * sets).max(1));
        let (bands, is_row) =
            if rows > 1 { (bands.min(rows), false) } else { (bands.min(columns.div_ceil(TILE)), true) };
        let of = move |n: usize, i: usize, parts: usize| n * i / parts..n * (i + 1) / parts;
        (0..images * sets * bands).map(move |i| {
            let (set, band) = (i / bands, i % bands);
            let (rows, columns) = match is_row {
                true => (0..rows, of(columns, band, bands)),
                false => (of(rows, band, bands), 0..columns),
            };
            PlanePart { image: set / sets, groups: of(groups, set % sets, sets), rows, columns }
        })
    }
}

/// Merges the axes of windows of one element into one.
fn merged(rows: PlaneAxis, columns: PlaneAxis) -> (PlaneAxis, PlaneAxis) {
    let is_one = |axis: &PlaneAxis| [axis.taps, axis.stride, axis.start, axis.outputs] == [1, 1, 0, axis.input];
    let merged = PlaneAxis { input: rows.input * columns.input, outputs: rows.outputs * columns.outputs, ..columns };
    if is_one(&rows) && is_one(&columns) && merged.is_small() { (PlaneAxis::ONE, merged) } else { (rows, columns) }
}

/// A part of the result: all filters of some groups.
#[derive(Clone, Debug)]
struct PlanePart {
    image: usize,
    groups: Range<usize>,
    rows: Range<usize>,
    columns: Range<usize>,
}

/// A running computation.
struct PlaneSumming<'a> {
    filters: &'a PlaneFilters,
    sums: PlaneSums<'a>,
    c: DisjointWriter<f32>,
}

/// The computation of a part.
struct PartSumming<'r, 'a> {
    run: &'r PlaneSumming<'a>,
    part: PlanePart,
}

impl OnPartial for PartSumming<'_, '_> {
    #[inline(always)]
    unsafe fn run<V: Partial>(self) {
        // SAFETY: guaranteed by the caller.
        unsafe { self.run.all::<V>(&self.part) }
    }
}

/// The rows that some rows of the result read, for some of their columns.
struct PlaneRows {
    /// The start of each row of each channel: the element at a tap of phase and index 0, for the first position.
    starts: Vec<*const f32>,
    /// First row, and number of rows.
    rows: Range<isize>,
    /// The offset of each tap along a row from the start of the row.
    taps: Vec<usize>,
    /// Memory of the copy: rows of all channels with their padding, in phases.
    copy: Vec<f32>,
    /// A row of zeros, for padding.
    zeros: Vec<f32>,
}

/// Positions of a row of the result that are computed at once: the first, the number of vectors, and the lanes that exist, if not all do.
/// Stores under masks take many cycles on some cores.
struct PositionChunk<M> {
    column: usize,
    vectors: usize,
    lanes: Option<M>,
}

/// A block of filters of a row of the result.
struct PlaneBlock<'a> {
    /// The row at each tap down each channel.
    rows: &'a [*const f32],
    taps: &'a [usize],
    weights: *const f32,
    /// The first filter, among all groups.
    filter: usize,
    /// Element of the result at the first of the positions, for that filter.
    place: usize,
}

impl PlaneSumming<'_> {
    /// Computes a part. The copy bounds the number of rows that are computed at once.
    ///
    /// # Safety
    /// The machine has the vectors, sizes fit, and the caller has exclusive access to this part of the result.
    #[inline(always)]
    unsafe fn all<V: Partial>(&self, part: &PlanePart) {
        let (filters, axis) = (self.filters, self.filters.rows);
        let is_direct = filters.is_direct(V::LANES) && part.columns.len() >= V::LANES;
        let width = if is_direct { part.columns.len() } else { COLUMNS };
        let mut from = PlaneRows { starts: vec![], rows: 0..0, taps: vec![], copy: vec![], zeros: vec![] };
        for first in part.columns.clone().step_by(width.max(1)) {
            let columns = first..(first + width).min(part.columns.end);
            let line = filters.channels * filters.phase(columns.len()) * filters.columns.stride as usize;
            let reach = ((axis.taps - 1) * axis.dilation) as usize;
            let fitting = (COPY / line).saturating_sub(reach) / axis.stride as usize;
            let count = if is_direct { part.rows.len() } else { fitting }.max(1);
            // SAFETY: guaranteed by the caller.
            let chunks = unsafe { VECTORS.map(|vectors| PositionChunk::all::<V>(columns.len(), vectors)) };
            let starts = part.rows.clone().step_by(count);
            for (group, first) in part.groups.clone().flat_map(|group| starts.clone().map(move |row| (group, row))) {
                let rows = first..(first + count).min(part.rows.end);
                let plane = [part.image, group];
                from.fill(self, plane, is_direct, &rows, &columns);
                // SAFETY: guaranteed by the caller; rows have what windows of these positions read, and whole vectors behind it where
                // they are copied, while direct reads are as wide as a vector.
                unsafe { self.rows::<V>(plane, rows, columns.start, &from, &chunks) }
            }
        }
    }

    /// Computes some rows, in tiles of their columns.
    ///
    /// # Safety
    /// As for [`all`](Self::all); `from` has what the rows read, and the chunks are those of the columns.
    #[inline(always)]
    unsafe fn rows<V: Partial>(
        &self,
        [image, group]: [usize; 2],
        rows: Range<usize>,
        column: usize,
        from: &PlaneRows,
        chunks: &[Vec<PositionChunk<V::Mask>>; VECTORS.len()],
    ) {
        let (filters, width) = (self.filters, self.filters.columns.outputs as usize);
        let [_, plane] = filters.planes();
        let first = group * filters.filters;
        let origin = (image * filters.groups * filters.filters + first) * plane + column;
        let weights = &filters.weights[first * filters.depth()..];
        let mut read = Vec::with_capacity(filters.channels * filters.rows.taps as usize);
        for row in rows {
            from.of_row(filters, row, &mut read);
            let tiles = chunks.iter().map(|chunks| chunks.len().div_ceil(PositionChunk::per_tile::<V>(chunks))).max();
            for tile in 0..tiles.unwrap_or(0) {
                let (mut filter, mut at) = (0, 0);
                for &count in &filters.blocks {
                    let chunks = &chunks[usize::from(count > FEW)];
                    let per_tile = PositionChunk::per_tile::<V>(chunks);
                    let chunks = chunks.chunks(per_tile).nth(tile).unwrap_or_default();
                    let place = origin + filter * plane + row * width;
                    let weights = weights[at..].as_ptr();
                    let block = PlaneBlock { rows: &read, taps: &from.taps, weights, filter: first + filter, place };
                    // SAFETY: guaranteed by the caller; there are weights of each tap for each filter of the block.
                    unsafe { self.block::<V>(count, &block, chunks) };
                    filter += count;
                    at += count * filters.depth();
                }
            }
        }
    }

    /// Computes some positions of a block of filters.
    ///
    /// # Safety
    /// As for [`rows`](Self::rows).
    #[inline(always)]
    unsafe fn block<V: Partial>(&self, count: usize, block: &PlaneBlock<'_>, chunks: &[PositionChunk<V::Mask>]) {
        for chunk in chunks {
            // SAFETY: guaranteed by the caller; blocks have at most six filters.
            unsafe {
                match (count, chunk.vectors) {
                    (1, 4) => self.chunk::<V, 4, 1>(block, chunk),
                    (2, 4) => self.chunk::<V, 4, 2>(block, chunk),
                    (3, 4) => self.chunk::<V, 4, 3>(block, chunk),
                    (1, 2) => self.chunk::<V, 2, 1>(block, chunk),
                    (2, 2) => self.chunk::<V, 2, 2>(block, chunk),
                    (3, 2) => self.chunk::<V, 2, 3>(block, chunk),
                    (4, 2) => self.chunk::<V, 2, 4>(block, chunk),
                    (5, 2) => self.chunk::<V, 2, 5>(block, chunk),
                    (_, 2) => self.chunk::<V, 2, FILTERS>(block, chunk),
                    (1, _) => self.chunk::<V, 1, 1>(block, chunk),
                    (2, _) => self.chunk::<V, 1, 2>(block, chunk),
                    (3, _) => self.chunk::<V, 1, 3>(block, chunk),
                    (4, _) => self.chunk::<V, 1, 4>(block, chunk),
                    (5, _) => self.chunk::<V, 1, 5>(block, chunk),
                    _ => self.chunk::<V, 1, FILTERS>(block, chunk),
                }
            }
        }
    }

    /// Computes `N` vectors of positions of each of `F` filters.
    ///
    /// # Safety
    /// As for [`rows`](Self::rows).
    #[inline(always)]
    unsafe fn chunk<V: Partial, const N: usize, const F: usize>(
        &self,
        block: &PlaneBlock<'_>,
        chunk: &PositionChunk<V::Mask>,
    ) {
        // SAFETY: guaranteed by the caller.
        unsafe {
            let mut sums = [[V::splat(0.0); N]; F];
            let mut weights = block.weights;
            for &row in block.rows {
                let row = row.wrapping_add(chunk.column);
                for &tap in block.taps {
                    let from = row.wrapping_add(tap);
                    let mut x = [V::splat(0.0); N];
                    for i in 0..N {
                        x[i] = V::load(from.wrapping_add(i * V::LANES));
                    }
                    for f in 0..F {
                        let weight = V::splat(weights.add(f).read());
                        for i in 0..N {
                            sums[f][i] = x[i].multiply_add(weight, sums[f][i]);
                        }
                    }
                    weights = weights.add(F);
                }
            }
            // The loop over filters is not unrolled: sums that it reads would be kept in memory.
            let mut all = [[V::splat(0.0); N]; F];
            for f in 0..F {
                for i in 0..N {
                    all[f][i] = sums[f][i];
                }
            }
            for f in 0..F {
                self.store(block, f, chunk, all[f]);
            }
        }
    }

    /// Stores the sums of a filter of a block.
    ///
    /// # Safety
    /// As for [`rows`](Self::rows).
    #[inline(always)]
    unsafe fn store<V: Partial, const N: usize>(
        &self,
        block: &PlaneBlock<'_>,
        f: usize,
        chunk: &PositionChunk<V::Mask>,
        sums: [V; N],
    ) {
        let [_, plane] = self.filters.planes();
        let PlaneSums { bias, add, elementwise, .. } = self.sums;
        // SAFETY: guaranteed by the caller.
        unsafe {
            let bias = V::splat(bias.map_or(-0.0, |bias| bias[block.filter + f]));
            for i in 0..N {
                let at = block.place + f * plane + chunk.column + i * V::LANES;
                let (mut sum, to) = (sums[i].plus(bias), self.c.at(at));
                if let Some(add) = add {
                    let from = add.as_ptr().wrapping_add(at);
                    sum = sum.plus(match chunk.lanes {
                        Some(lanes) => V::load_some(from, lanes),
                        None => V::load(from),
                    });
                }
                sum = elementwise.of(sum);
                match chunk.lanes {
                    Some(lanes) => sum.store_some(to, lanes),
                    None => sum.store(to),
                }
            }
        }
    }
}

impl<M: Copy> PositionChunk<M> {
    /// Returns the chunks of some positions of a row, of at most some vectors, the last of which overlap those before if positions do not
    /// fill them.
    ///
    /// # Safety
    /// The machine has the vectors.
    #[inline(always)]
    unsafe fn all<V: Partial<Mask = M>>(positions: usize, most: usize) -> Vec<PositionChunk<M>> {
        let fits = |&vectors: &usize| vectors <= most && V::LANES * vectors <= positions;
        let vectors = [4, 2].into_iter().find(fits).unwrap_or(1);
        let step = V::LANES * vectors;
        // SAFETY: guaranteed by the caller.
        let lanes = (positions < V::LANES).then(|| unsafe { V::mask(0..positions) });
        let chunk =
            |column: usize| PositionChunk { column: column.min(positions.saturating_sub(step)), vectors, lanes };
        (0..positions).step_by(step).map(chunk).collect()
    }

    /// Returns the number of chunks of a tile.
    fn per_tile<V: Partial<Mask = M>>(chunks: &[PositionChunk<M>]) -> usize {
        let vectors = chunks.first().map_or(1, |chunk| chunk.vectors);
        (TILE / (V::LANES * vectors)).max(1)
    }
}

impl PlaneFilters {
    /// Returns the number of elements of a phase of a copied row for some positions: whole chunks behind the last tap, too.
    fn phase(&self, positions: usize) -> usize {
        let reach = self.taps.iter().map(|&(_, index)| index).max().unwrap_or(0);
        positions + reach + MAX_LANES * VECTORS[0]
    }
}

impl PlaneRows {
    /// Finds the rows that some rows of the result read for some of their columns, and copies them unless they are read directly.
    fn fill(
        &mut self,
        run: &PlaneSumming<'_>,
        [image, group]: [usize; 2],
        is_direct: bool,
        rows: &Range<usize>,
        columns: &Range<usize>,
    ) {
        let (filters, PlaneAxis { start, stride, taps, dilation, input, .. }) = (run.filters, run.filters.rows);
        let (width, step) = (filters.columns.input as usize, filters.columns.stride as usize);
        let phase = if is_direct { 0 } else { filters.phase(columns.len()) };
        let first = (rows.start as i64 * stride + start) as isize;
        let end = ((rows.end as i64 - 1) * stride + start + (taps - 1) * dilation + 1) as isize;
        self.rows = first.max(0)..end.min(input as isize).max(first.max(0));
        self.taps.clear();
        self.taps.extend(filters.taps.iter().map(|&(of, index)| of * phase + index));
        self.zeros.resize(if is_direct { width } else { phase * step }, 0.0);
        let plane = (image * filters.groups + group) * filters.channels * width * input as usize;
        let count = self.rows.len() * filters.channels;
        self.copy.resize(count * phase * step, 0.0);
        self.starts.clear();
        for i in 0..count {
            let (channel, row) = (i / self.rows.len(), self.rows.start as usize + i % self.rows.len());
            let line = &run.sums.a[plane + (channel * input as usize + row) * width..][..width];
            if is_direct {
                self.starts.push(line[filters.columns.start as usize + columns.start..].as_ptr());
                continue;
            }
            let to = &mut self.copy[i * phase * step..][..phase * step];
            for (of, to) in to.chunks_exact_mut(phase).enumerate() {
                let first = (columns.start * step + of) as isize + filters.columns.start as isize;
                phase_of(line, first, step, to);
            }
            self.starts.push(to.as_ptr());
        }
    }

    /// Collects the rows at the taps of a row of the result, for each channel.
    fn of_row(&self, filters: &PlaneFilters, row: usize, read: &mut Vec<*const f32>) {
        let PlaneAxis { start, stride, taps, dilation, .. } = filters.rows;
        read.clear();
        for channel in 0..filters.channels {
            let tap = |k: i64| {
                let at = (row as i64 * stride + start + k * dilation) as isize;
                let is_inside = self.rows.contains(&at);
                let at = channel * self.rows.len() + (at - self.rows.start).max(0) as usize;
                if is_inside { self.starts[at] } else { self.zeros.as_ptr() }
            };
            read.extend((0..taps).map(tap));
        }
    }
}

/// Copies every `step`-th element of a line from element `first` on. Elements outside the line are zeros.
fn phase_of(line: &[f32], first: isize, step: usize, to: &mut [f32]) {
    let before = (first.min(0).unsigned_abs()).div_ceil(step).min(to.len());
    let from = line.get((first + (before * step) as isize).max(0) as usize..).unwrap_or_default();
    let count = from.len().div_ceil(step).min(to.len() - before);
    let (padding, rest) = to.split_at_mut(before);
    padding.fill(0.0);
    let (inside, behind) = rest.split_at_mut(count);
    match step {
        1 => inside.copy_from_slice(&from[..count]),
        // A constant step is compiled to shuffles.
        2 => inside.iter_mut().zip(from.iter().step_by(2)).for_each(|(to, &x)| *to = x),
        _ => inside.iter_mut().zip(from.iter().step_by(step)).for_each(|(to, &x)| *to = x),
    }
    behind.fill(0.0);
}
