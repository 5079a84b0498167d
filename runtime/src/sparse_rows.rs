//! Products of a sparse matrix of f32 or f64, by compressed sparse rows, and ranges of a dense operand.
//!
//! For each row and block of columns, sums of up to eight vectors stay in registers, so that a nonzero takes a broadcast and loads of
//! contiguous vectors. If what a block reads does not fit into the L1 cache, it is divided into chunks of rows of the dense operand, which
//! are read for all rows of the matrix before the next. If columns do not fill cache lines and rows of the dense operand are read several
//! times, chunks of it are packed first, since half of the loads or more would read two lines each.

#![allow(unsafe_code)]

mod chunks;

use crate::KernelError;
use crate::aligned_bytes::{AlignedBytes, LINE};
use crate::vector::{Element, Floats, Isa, Loops, MultiplyAdd, OnVectors, array_of, run_widest};
use crate::workers::Workers;
use chunks::{Chunks, Strip};
use gradus_networks::Columns;
use gradus_networks::addr::{Division, SparseShape};
use std::cell::Cell;
use std::marker::PhantomData;
use std::ops::Range;

/// Maximum number of vectors of a block of columns, if the dense operand is beyond the L2 cache.
const MAX_FAR_VECTORS: usize = 4;

/// Rows whose blocks are computed together, unless the dense operand is as large or is divided into chunks.
const NEAR_ROWS: usize = 4;

/// Rows of the dense operand that are read together, if whole rows are read one after the other.
const STREAMS: usize = 4;

/// Bytes of the columns that are computed for all rows then, whose sums stay in the L1 cache.
const STREAMED: usize = 16 << 10;

/// Elements that are copied at once.
const COPIED: usize = 16;

/// Minimum number of columns of a strip that is packed: they fill vectors.
const MIN_PACKED: usize = 8;

thread_local! {
    /// A packed chunk, kept for the next product.
    static PACKED: Cell<AlignedBytes> = Cell::default();
}

/// A nonzero.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Nonzero<T> {
    /// Element of the dense operand that the first column of the result reads.
    pub offset: u32,
    /// The factor.
    pub value: T,
}

/// The bias with which sums begin, and the ops on them before the store.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Epilogue<'a, T> {
    /// Summand of each row, with which its sums begin.
    pub bias: Option<&'a [T]>,
    /// Summand of each element of the result.
    pub add: Option<&'a [T]>,
    /// Bounds of the clamp.
    pub range: (T, T),
}

/// A sparse matrix, for products with ranges of a dense operand.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct SparseRows<T> {
    columns: Columns,
    rows: usize,
    /// Elements of the dense operand up to the last one that is read.
    reach: usize,
    chunks: Chunks<T>,
}

/// Columns that are computed at once, for all rows. If vectors do not divide them, the last two overlap.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct ColumnBlock {
    /// The first column in its band.
    first: usize,
    /// Element that the first column reads, behind the offset of a nonzero.
    from: usize,
    /// Number of columns, at least those of a vector.
    width: usize,
}

impl ColumnBlock {
    /// Number of vectors.
    fn vectors(self, lanes: usize) -> usize {
        self.width.div_ceil(lanes)
    }
}

impl<T: Element> SparseRows<T> {
    /// Collects the nonzeros of a matrix; row `i` has those behind the end of row `i - 1`, up to `ends[i]`. `None` if ends do not ascend to
    /// the number of nonzeros, columns are not divided evenly, or an address overflows.
    pub fn new(entries: &[Nonzero<T>], ends: &[usize], columns: Columns) -> Option<SparseRows<T>> {
        let is_ascending = ends.is_sorted() && ends.last().copied().unwrap_or(0) == entries.len();
        (is_ascending && columns.is_even()).then_some(())?;
        let last = entries.iter().map(|entry| entry.offset as usize).max();
        let width = columns.reach()?;
        let reach = last.map_or(Some(0), |last| last.checked_add(width))?;
        ends.len().checked_mul(columns.all)?;
        let lanes = T::lanes(T::filled(Isa::best(), columns.strip()));
        let strip = Strip {
            vectors: columns.strip().div_ceil(lanes),
            bytes: lanes * size_of::<T>(),
            is_filled: columns.strip() >= MIN_PACKED,
            is_split: !columns.strip().is_multiple_of(LINE / size_of::<T>()),
        };
        let chunks = Chunks::of(entries, ends, strip);
        Some(SparseRows { columns, rows: ends.len(), reach, chunks })
    }

    /// Elements of the dense operand up to the last one that is read.
    pub fn reach(&self) -> usize {
        self.reach
    }

    /// Number of vector operations.
    pub fn steps(&self) -> usize {
        let lanes = T::lanes(T::filled(Isa::best(), self.columns.strip()));
        self.chunks.entries.len().saturating_mul(self.columns.all.div_ceil(lanes))
    }

    /// Computes the product with ranges of `b`, whose sums are in the order of the nonzeros. Sums without a bias begin with -0, and are 0 in
    /// rows without nonzeros.
    ///
    /// # Errors
    /// The machine lacks the vectors, or an operand or `out`, `[M, N]` or in bands `[B, M, N / B]`, has another size.
    pub fn times(
        &self,
        isa: Isa,
        workers: &Workers,
        epilogue: &Epilogue<'_, T>,
        (b, out): (&[T], &mut [T]),
    ) -> Result<(), KernelError> {
        let (rows, columns) = (self.rows, self.columns);
        let fits = self.reach <= b.len()
            && rows * columns.all == out.len()
            && epilogue.bias.is_none_or(|bias| bias.len() == rows)
            && epilogue.add.is_none_or(|add| add.len() == out.len());
        if !isa.is_supported() || !fits {
            return Err(format!("{isa:?}, or a product of {rows} rows by {} columns", columns.all).into());
        }
        if out.is_empty() {
            return Ok(());
        }
        let isa = T::filled(isa, columns.strip());
        let threads = workers.for_steps(self.steps());
        // A packed chunk is read by one thread.
        let parts = if self.chunks.is_packed { threads } else { Workers::parts(threads) };
        let rows_of_part = rows.div_ceil(parts.div_ceil(columns.bands));
        let product = SparseRowsProduct { rows: self, b, epilogue, isa };
        let bands = out.chunks_mut(rows * columns.band()).enumerate();
        let parts = bands.flat_map(|(band, out)| {
            let parts = (0..rows).step_by(rows_of_part).zip(out.chunks_mut(rows_of_part * columns.band()));
            parts.map(move |(first, out)| (band, first..rows.min(first + rows_of_part), out))
        });
        workers.share(threads, parts, |(band, rows, out)| product.part(band, rows, out));
        Ok(())
    }

    /// The blocks of a band for vectors of some lanes, strip by strip.
    fn blocks(&self, band: usize, [lanes, most]: [usize; 2]) -> Vec<ColumnBlock> {
        let (strip, in_band) = (self.columns.strip(), self.columns.strips_of_band());
        let of_strip = |i: usize| {
            let from = (band * in_band + i) * self.columns.pitch;
            let all = blocks([lanes, most], strip);
            all.map(move |block| ColumnBlock { first: i * strip + block.first, from: from + block.first, ..block })
        };
        (0..in_band).flat_map(of_strip).collect()
    }
}

/// A product that is computed.
struct SparseRowsProduct<'a, T> {
    rows: &'a SparseRows<T>,
    b: &'a [T],
    epilogue: &'a Epilogue<'a, T>,
    isa: Option<Isa>,
}

impl<T: Element> SparseRowsProduct<'_, T> {
    /// Computes some rows of a band.
    fn part(&self, band: usize, rows: Range<usize>, out: &mut [T]) {
        let (lanes, width) = (T::lanes(self.isa), self.rows.columns.band());
        let chunks = &self.rows.chunks;
        let is_far = SparseShape::is_far(size_of_val(self.b));
        let most = if is_far && !chunks.is_packed { MAX_FAR_VECTORS } else { chunks.vectors };
        let blocks = self.rows.blocks(band, [lanes, most]);
        let is_chunked = chunks.count() > 1 || chunks.is_packed;
        // The result is written row by row if the dense operand stays in the L2 cache.
        let step = if is_far || is_chunked { rows.len() } else { NEAR_ROWS };
        let is_whole = self.rows.columns.strips == 1 && width.is_multiple_of(lanes);
        let is_streamed = is_far && chunks.shape().is_streamed() && is_whole && !is_chunked;
        let at = band * self.rows.rows * width + rows.start * width;
        let part = RowRange { product: self, blocks: &blocks, rows, at, width, step, is_streamed };
        // SAFETY: `times` checked the extension and the sizes, and blocks are inside of the columns.
        unsafe { T::run(self.isa, (part, out)) }
    }
}

/// Some rows of a band.
struct RowRange<'a, T> {
    product: &'a SparseRowsProduct<'a, T>,
    blocks: &'a [ColumnBlock],
    rows: Range<usize>,
    /// Elements of the result before these rows.
    at: usize,
    /// Columns of a band.
    width: usize,
    /// Rows of which all blocks are computed before those of other rows.
    step: usize,
    /// Whether whole rows of the dense operand are read one after the other.
    is_streamed: bool,
}

/// The dense operand of a block, at offsets, or a packed chunk, at indices of its rows.
#[derive(Clone, Copy)]
struct Dense<T> {
    from: *const T,
    /// Elements from a place to the next.
    pitch: usize,
}

impl<T: Element> OnVectors<T> for (RowRange<'_, T>, &mut [T]) {
    #[inline(always)]
    unsafe fn run<V: Floats<Element = T>>(self) {
        // SAFETY: guaranteed by the caller.
        unsafe { self.0.run::<V>(self.1) }
    }
}

impl<T: Element> RowRange<'_, T> {
    /// Computes all blocks.
    ///
    /// # Safety
    /// The machine has the vectors. The dense operand has the vectors of all blocks at the offsets; `out` has a row of `width` elements for
    /// each of `rows`.
    #[inline(always)]
    unsafe fn run<V: Floats<Element = T>>(&self, out: &mut [T]) {
        if self.is_streamed {
            // SAFETY: guaranteed by the caller.
            return unsafe { self.stream::<V>(out) };
        }
        let (product, all) = (self.product, self.rows.clone());
        let chunks = &product.rows.chunks;
        for first in all.clone().step_by(self.step.max(1)) {
            let rows = first..all.end.min(first + self.step.max(1));
            let out = &mut out[(first - all.start) * self.width..][..rows.len() * self.width];
            for block in self.blocks {
                for chunk in 0..chunks.count() {
                    // SAFETY: guaranteed by the caller.
                    unsafe {
                        if chunks.is_packed {
                            let mut packed = PACKED.take();
                            let dense = self.pack::<V>(&mut packed, (block, chunk));
                            self.block_of::<V>((*block, chunk, dense), rows.clone(), out);
                            PACKED.set(packed);
                        } else {
                            let dense = Dense { from: product.b.as_ptr().wrapping_add(block.from), pitch: 1 };
                            self.block_of::<V>((*block, chunk, dense), rows.clone(), out);
                        }
                    }
                }
            }
        }
    }

    /// Copies the columns of a block from the rows of a chunk.
    fn pack<V: Floats<Element = T>>(
        &self,
        packed: &mut AlignedBytes,
        (block, chunk): (&ColumnBlock, usize),
    ) -> Dense<T> {
        let pitch = block.vectors(V::LANES) * V::LANES;
        let offsets = self.product.rows.chunks.offsets(chunk);
        let size = offsets.len() * pitch * size_of::<T>();
        if packed.as_ref().len() < size {
            *packed = AlignedBytes::zeros(size);
        }
        let to: &mut [T] = bytemuck::cast_slice_mut(&mut packed.as_mut()[..size]);
        let from = &self.product.b[block.from..];
        run_widest(Pack { from, offsets, width: block.width, pitch, packed: to });
        Dense { from: packed.as_ref().as_ptr().cast(), pitch }
    }

    /// Computes a block of a chunk.
    ///
    /// # Safety
    /// As for [`run`](Part::run), for the rows that `dense` has.
    #[inline(always)]
    unsafe fn block_of<V: Floats<Element = T>>(
        &self,
        of: (ColumnBlock, usize, Dense<T>),
        rows: Range<usize>,
        out: &mut [T],
    ) {
        // SAFETY: guaranteed by the caller.
        unsafe {
            match of.0.vectors(V::LANES) {
                1 => self.block::<V, 1>(of, rows, out),
                2 => self.block::<V, 2>(of, rows, out),
                3 => self.block::<V, 3>(of, rows, out),
                4 => self.block::<V, 4>(of, rows, out),
                5 => self.block::<V, 5>(of, rows, out),
                6 => self.block::<V, 6>(of, rows, out),
                7 => self.block::<V, 7>(of, rows, out),
                _ => self.block::<V, { Division::MAX_VECTORS }>(of, rows, out),
            }
        }
    }

    /// Computes a block of `NV` vectors of columns, of a chunk.
    ///
    /// # Safety
    /// As for [`run`](Part::run), for the rows that `dense` has.
    #[inline(always)]
    unsafe fn block<V: Floats<Element = T>, const NV: usize>(
        &self,
        (block, chunk, dense): (ColumnBlock, usize, Dense<T>),
        rows: Range<usize>,
        out: &mut [T],
    ) {
        let chunks = &self.product.rows.chunks;
        let (is_first, is_last) = (chunk == 0, chunk + 1 == chunks.count());
        let at = Vectors::<V>::of(block);
        let starts = chunks.starts_of(chunk, rows.clone());
        for ((row, ends), out) in rows.zip(starts.windows(2)).zip(out.chunks_exact_mut(self.width)) {
            let out = &mut out[block.first..][..block.width];
            // SAFETY: guaranteed by the caller, here and below.
            let mut sums = unsafe { if is_first { [V::splat(self.begin(row)); NV] } else { at.load(out.as_ptr()) } };
            for entry in &chunks.entries[ends[0]..ends[1]] {
                let from = dense.from.wrapping_add(entry.offset as usize * dense.pitch);
                // SAFETY: as above.
                let (value, b) = unsafe { (V::splat(entry.value), at.load::<NV>(from)) };
                // SAFETY: as above.
                sums.iter_mut().zip(b).for_each(|(sum, b)| *sum = unsafe { value.multiply_add(b, *sum) });
            }
            // SAFETY: as above.
            unsafe {
                if is_last {
                    self.finish(&mut sums, row, block);
                }
                at.store(sums, out.as_mut_ptr());
            }
        }
    }

    /// The number with which the sums of a row begin.
    #[inline(always)]
    fn begin(&self, row: usize) -> T {
        match self.product.epilogue.bias {
            Some(bias) => bias[row],
            None if self.product.rows.chunks.is_empty(row) => 0.0.into(),
            None => (-0.0).into(),
        }
    }

    /// Adds the residual and clamps.
    ///
    /// # Safety
    /// As for [`run`](Part::run).
    #[inline(always)]
    unsafe fn finish<V: Floats<Element = T>, const NV: usize>(
        &self,
        sums: &mut [V; NV],
        row: usize,
        block: ColumnBlock,
    ) {
        let Epilogue { add, range: (low, high), .. } = *self.product.epilogue;
        // SAFETY: guaranteed by the caller.
        unsafe {
            if let Some(add) = add {
                let at = self.at + (row - self.rows.start) * self.width + block.first;
                let more = Vectors::<V>::of(block).load::<NV>(add[at..][..block.width].as_ptr());
                sums.iter_mut().zip(more).for_each(|(sum, more)| *sum = sum.plus(more));
            }
            if low > f32::NEG_INFINITY.into() || high < f32::INFINITY.into() {
                let (low, high) = (V::splat(low), V::splat(high));
                sums.iter_mut().for_each(|sum| *sum = sum.between(low, high));
            }
        }
    }

    /// Computes row by row, whose sums are in the L1 cache, from long pieces of rows of the dense operand, whose lines hardware prefetches.
    ///
    /// # Safety
    /// As for [`run`](Part::run), and the dense operand has all columns at the offsets, which vectors divide.
    #[inline(always)]
    unsafe fn stream<V: Floats<Element = T>>(&self, out: &mut [T]) {
        let chunks = &self.product.rows.chunks;
        let starts = chunks.starts_of(0, self.rows.clone());
        let most = STREAMED / size_of::<T>();
        for first in (0..self.width).step_by(most) {
            let columns = first..self.width.min(first + most);
            for ((row, ends), out) in self.rows.clone().zip(starts.windows(2)).zip(out.chunks_exact_mut(self.width)) {
                let out = &mut out[columns.clone()];
                out.fill(self.begin(row));
                let (several, rest) = chunks.entries[ends[0]..ends[1]].as_chunks::<STREAMS>();
                // SAFETY: guaranteed by the caller, here and below.
                several.iter().for_each(|entries| unsafe { self.add_rows::<V, STREAMS>(entries, first, out) });
                // SAFETY: as above.
                rest.iter().for_each(|entry| unsafe { self.add_rows::<V, 1>(&[*entry], first, out) });
                for (i, sums) in out.chunks_exact_mut(V::LANES).enumerate() {
                    let block = ColumnBlock { first: first + i * V::LANES, from: 0, width: V::LANES };
                    // SAFETY: as above.
                    unsafe {
                        let mut sum = [V::load(sums.as_ptr())];
                        self.finish(&mut sum, row, block);
                        sum[0].store(sums.as_mut_ptr());
                    }
                }
            }
        }
    }

    /// Adds the products of nonzeros and their rows of the dense operand to the sums of a row, from a column on.
    ///
    /// # Safety
    /// As for [`stream`](Part::stream).
    #[inline(always)]
    unsafe fn add_rows<V: Floats<Element = T>, const N: usize>(
        &self,
        entries: &[Nonzero<T>; N],
        first: usize,
        sums: &mut [T],
    ) {
        let b = self.product.b.as_ptr().wrapping_add(first);
        let rows = entries.map(|entry| b.wrapping_add(entry.offset as usize));
        // SAFETY: guaranteed by the caller, here and below.
        let values = entries.map(|entry| unsafe { V::splat(entry.value) });
        for (i, sums) in sums.chunks_exact_mut(V::LANES).enumerate() {
            let (at, to) = (i * V::LANES, sums.as_mut_ptr());
            // SAFETY: as above.
            let mut sum = unsafe { V::load(to) };
            for (row, value) in rows.into_iter().zip(values) {
                // SAFETY: as above.
                sum = unsafe { value.multiply_add(V::load(row.add(at)), sum) };
            }
            // SAFETY: as above.
            unsafe { sum.store(to) };
        }
    }
}

/// The places of the vectors of a block, of which the last one ends with the block.
#[derive(Clone, Copy)]
struct Vectors<V> {
    last: usize,
    of: PhantomData<V>,
}

impl<V: Floats> Vectors<V> {
    #[inline(always)]
    fn of(block: ColumnBlock) -> Vectors<V> {
        Vectors { last: block.width - V::LANES, of: PhantomData }
    }

    #[inline(always)]
    fn at<const NV: usize>(self, v: usize) -> usize {
        if v + 1 == NV { self.last } else { v * V::LANES }
    }

    /// Loads them.
    ///
    /// # Safety
    /// The machine has these vectors, and there are the columns of the block at `from`, of `NV` vectors.
    #[inline(always)]
    unsafe fn load<const NV: usize>(self, from: *const V::Element) -> [V; NV] {
        // SAFETY: guaranteed by the caller.
        array_of(|v| unsafe { V::load(from.wrapping_add(self.at::<NV>(v))) })
    }

    /// Stores them.
    ///
    /// # Safety
    /// As for [`load`](Vectors::load), and the columns can be written.
    #[inline(always)]
    unsafe fn store<const NV: usize>(self, sums: [V; NV], to: *mut V::Element) {
        // SAFETY: guaranteed by the caller.
        sums.into_iter().enumerate().for_each(|(v, sum)| unsafe { sum.store(to.wrapping_add(self.at::<NV>(v))) });
    }
}

/// The columns of a block in the rows of a chunk, copied to rows `pitch` apart.
struct Pack<'a, T> {
    from: &'a [T],
    offsets: &'a [u32],
    width: usize,
    pitch: usize,
    packed: &'a mut [T],
}

impl<T: Copy> Loops for Pack<'_, T> {
    #[inline(always)]
    fn run<M: MultiplyAdd>(self) {
        for (&offset, to) in self.offsets.iter().zip(self.packed.chunks_exact_mut(self.pitch)) {
            let (lines, rest) = self.from[offset as usize..][..self.width].as_chunks::<COPIED>();
            let (to_lines, to_rest) = to[..self.width].as_chunks_mut::<COPIED>();
            to_lines.iter_mut().zip(lines).for_each(|(to, line)| *to = *line);
            to_rest.iter_mut().zip(rest).for_each(|(to, x)| *to = *x);
        }
    }
}

/// Divides columns, at least those of a vector, into blocks of almost equal numbers of vectors, `most` or fewer.
fn blocks([lanes, most]: [usize; 2], columns: usize) -> impl Iterator<Item = ColumnBlock> {
    let vectors = columns.div_ceil(lanes);
    let count = vectors.div_ceil(most);
    (0..count).map(move |i| {
        let [begin, end] = [i, i + 1].map(|i| i * vectors / count * lanes);
        let end = end.min(columns);
        let first = begin.min(end - lanes);
        ColumnBlock { first, from: first, width: end - first }
    })
}

#[cfg(test)]
mod tests;
