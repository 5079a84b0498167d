//! Products of a sparse matrix of f32, by compressed sparse rows, and a dense matrix.
//!
//! For each row and block of columns, sums of up to eight vectors stay in registers, so that a nonzero takes a broadcast and loads of
//! contiguous vectors. If columns do not fill cache lines and rows of the dense operand are read several times, blocks of it are packed
//! first, since half of the loads or more would read two lines each.

#![allow(unsafe_code)]

use crate::aligned_bytes::{AlignedBytes, LINE};
use crate::vector::{Eight, Isa, Loops, MultiplyAdd, Vector, run_widest};
use crate::workers::Workers;
use std::cell::Cell;

/// Maximum number of lanes of a vector.
const MAX_LANES: usize = 16;

/// Maximum number of vectors of a block of columns.
const MAX_VECTORS: usize = 8;

/// The same, if the dense operand is beyond the L2 cache.
const MAX_FAR_VECTORS: usize = 4;

/// Number of elements from which on a dense operand is beyond the L2 cache.
const FAR: usize = 1 << 19;

/// Rows whose blocks are computed together, unless the dense operand is as large.
const NEAR_ROWS: usize = 4;

/// Average number of reads of a row of the dense operand up to which whole rows are read one after the other, if it is beyond the L2 cache:
/// measured on Zen 3, products of 256x1152 by 3136 columns.
const MAX_STREAMED: usize = 8;

/// Rows of the dense operand that are read together then.
const STREAMS: usize = 4;

/// Average number of reads of a row of the dense operand from which on its blocks are packed.
const MIN_READS: usize = 4;

thread_local! {
    /// A packed block, kept for the next product.
    static PACKED: Cell<AlignedBytes> = Cell::default();
}

/// A nonzero.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Entry {
    /// Column of the matrix, which is the row of the dense operand.
    column: u32,
    value: f32,
}

/// A sparse matrix `[M, K]`, for products with dense matrices `[K, N]`.
#[derive(Clone, PartialEq, Debug)]
pub struct SparseRows {
    depth: usize,
    /// Start of each row among the nonzeros, and their number.
    starts: Vec<usize>,
    entries: Vec<Entry>,
}

/// Vectors of columns that are computed at once, for all rows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Block {
    /// The first column.
    first: usize,
    vectors: usize,
    /// Lanes of the last vector that are stored.
    last: usize,
}

/// A dense matrix, or the packed columns of a block.
#[derive(Clone, Copy)]
struct Dense<'a> {
    elements: &'a [f32],
    /// Elements between rows.
    pitch: usize,
}

impl SparseRows {
    /// Collects the nonzeros of `values`, `[M, K]`, or `[K, M]` if `is_transposed`; `None` if there are not as many values, or K exceeds
    /// 32 bits.
    pub fn new(values: &[f32], [rows, depth]: [usize; 2], is_transposed: bool) -> Option<SparseRows> {
        (values.len() == rows.checked_mul(depth)?).then_some(())?;
        let (mut starts, mut entries, depth32) = (vec![0], Vec::new(), u32::try_from(depth).ok()?);
        for row in 0..rows {
            let value = |k: usize| if is_transposed { values[k * rows + row] } else { values[row * depth + k] };
            let all = (0..depth32).map(|column| Entry { column, value: value(column as usize) });
            entries.extend(all.filter(|entry| entry.value != 0.0));
            starts.push(entries.len());
        }
        Some(SparseRows { depth, starts, entries })
    }

    /// Computes the product with `b`, `[K, columns]`, whose sums begin with -0 and are in the order of K; rows without nonzeros are 0.
    ///
    /// # Errors
    /// The machine lacks the vectors, or `b` or `out`, `[M, columns]`, has another size.
    pub fn times(
        &self,
        isa: Isa,
        workers: &Workers,
        columns: usize,
        (b, out): (&[f32], &mut [f32]),
    ) -> Result<(), String> {
        let (rows, depth) = (self.starts.len() - 1, self.depth);
        let fits = depth.checked_mul(columns) == Some(b.len()) && rows.checked_mul(columns) == Some(out.len());
        if !isa.is_supported() || !fits {
            return Err(format!("{isa:?}, or a product of {rows}x{depth} by {columns} columns"));
        }
        if out.is_empty() {
            return Ok(());
        }
        let isa = isa.filled_by(columns);
        let lanes = lanes(isa);
        let is_packed = isa.is_some()
            && !columns.is_multiple_of(LINE / size_of::<f32>())
            && self.entries.len() >= MIN_READS.saturating_mul(depth);
        let most = if b.len() > FAR { MAX_FAR_VECTORS } else { MAX_VECTORS };
        let blocks: Vec<Block> = blocks([lanes, most], columns, is_packed).collect();
        let steps = self.entries.len().saturating_mul(columns.div_ceil(lanes));
        let threads = workers.for_steps(steps);
        if !is_packed {
            let dense = Dense { elements: b, pitch: columns };
            self.share((isa, workers, threads), &blocks, dense, columns, out);
            return Ok(());
        }
        let mut packed = PACKED.take();
        for block in &blocks {
            let pitch = block.vectors * lanes;
            let size = depth * pitch * size_of::<f32>();
            if packed.as_ref().len() < size {
                packed = AlignedBytes::zeros(size);
            }
            let elements: &mut [f32] = bytemuck::cast_slice_mut(&mut packed.as_mut()[..size]);
            run_widest(Pack {
                b,
                columns,
                first: block.first,
                width: pitch - lanes + block.last,
                pitch,
                packed: elements,
            });
            self.share((isa, workers, threads), &[*block], Dense { elements, pitch }, columns, out);
        }
        PACKED.set(packed);
        Ok(())
    }

    /// Computes blocks, of which a dense operand has all columns or the packed ones of the only block.
    fn share(
        &self,
        (isa, workers, threads): (Option<Isa>, &Workers, usize),
        blocks: &[Block],
        dense: Dense<'_>,
        columns: usize,
        out: &mut [f32],
    ) {
        let all = self.starts.len() - 1;
        let rows = all.div_ceil(Workers::parts(threads));
        // The result is written row by row if the dense operand stays in the L2 cache.
        let is_far = dense.elements.len() > FAR;
        let step = if is_far { rows } else { NEAR_ROWS };
        let is_read_seldom = self.entries.len() < MAX_STREAMED.saturating_mul(self.depth);
        let is_whole = dense.pitch == columns && columns.is_multiple_of(lanes(isa));
        let is_streamed = is_far && is_read_seldom && is_whole;
        let parts = (0..all).step_by(rows).map(|first| &self.starts[first..=all.min(first + rows)]);
        workers.share(threads, parts.zip(out.chunks_mut(rows * columns)), |(starts, out)| {
            let part = Part { rows: self, blocks, starts, dense, columns, step, is_streamed };
            // SAFETY: `times` checked the extension and the sizes, and divided columns into blocks.
            unsafe {
                match isa {
                    #[cfg(target_arch = "x86_64")]
                    Some(Isa::Avx512) => x86::avx512(&part, out),
                    #[cfg(target_arch = "x86_64")]
                    Some(Isa::Avx2) => x86::avx2(&part, out),
                    #[cfg(target_arch = "aarch64")]
                    Some(Isa::Neon) => part.run::<std::arch::aarch64::float32x4_t>(out),
                    Some(_) => part.run::<Eight>(out),
                    None => part.run::<f32>(out),
                }
            }
        });
    }
}

/// Some rows of a product.
struct Part<'a> {
    rows: &'a SparseRows,
    blocks: &'a [Block],
    /// Start of each row among the nonzeros, and the end of the last.
    starts: &'a [usize],
    dense: Dense<'a>,
    columns: usize,
    /// Rows of which all blocks are computed before those of other rows.
    step: usize,
    /// Whether whole rows of the dense operand are read one after the other.
    is_streamed: bool,
}

impl Part<'_> {
    /// Computes all blocks.
    ///
    /// # Safety
    /// The machine has the vectors. The dense operand has `depth` rows, each with the vectors of all blocks; `out` has a row of `columns`
    /// elements for each of `starts` but the last.
    #[inline(always)]
    unsafe fn run<V: Vector>(&self, out: &mut [f32]) {
        if self.is_streamed {
            // SAFETY: guaranteed by the caller.
            return unsafe { self.stream::<V>(out) };
        }
        let rows = self.starts.len() - 1;
        for first in (0..rows).step_by(self.step) {
            let end = rows.min(first + self.step);
            let (starts, out) = (&self.starts[first..=end], &mut out[first * self.columns..end * self.columns]);
            for &block in self.blocks {
                // SAFETY: guaranteed by the caller.
                unsafe {
                    match block.vectors {
                        1 => self.block::<V, 1>(block, starts, out),
                        2 => self.block::<V, 2>(block, starts, out),
                        3 => self.block::<V, 3>(block, starts, out),
                        4 => self.block::<V, 4>(block, starts, out),
                        5 => self.block::<V, 5>(block, starts, out),
                        6 => self.block::<V, 6>(block, starts, out),
                        7 => self.block::<V, 7>(block, starts, out),
                        _ => self.block::<V, MAX_VECTORS>(block, starts, out),
                    }
                }
            }
        }
    }

    /// Computes row by row, whose sums are in the L1 cache, from whole rows of the dense operand, whose lines hardware prefetches.
    ///
    /// # Safety
    /// As for [`run`](Part::run), and the dense operand has all columns, which vectors divide.
    #[inline(always)]
    unsafe fn stream<V: Vector>(&self, out: &mut [f32]) {
        for (ends, out) in self.starts.windows(2).zip(out.chunks_exact_mut(self.columns)) {
            let entries = &self.rows.entries[ends[0]..ends[1]];
            out.fill(if entries.is_empty() { 0.0 } else { -0.0 });
            let (several, rest) = entries.as_chunks::<STREAMS>();
            // SAFETY: guaranteed by the caller.
            several.iter().for_each(|entries| unsafe { self.add_rows::<V, STREAMS>(entries, out) });
            // SAFETY: as above.
            rest.iter().for_each(|entry| unsafe { self.add_rows::<V, 1>(&[*entry], out) });
        }
    }

    /// Adds the products of nonzeros and their rows of the dense operand to the sums of a row.
    ///
    /// # Safety
    /// As for [`stream`](Part::stream).
    #[inline(always)]
    unsafe fn add_rows<V: Vector, const N: usize>(&self, entries: &[Entry; N], sums: &mut [f32]) {
        let b = self.dense.elements.as_ptr();
        let rows = entries.map(|entry| b.wrapping_add(entry.column as usize * self.dense.pitch));
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

    /// Computes a block of `NV` vectors of columns.
    ///
    /// # Safety
    /// As for [`run`](Part::run).
    #[inline(always)]
    unsafe fn block<V: Vector, const NV: usize>(&self, block: Block, starts: &[usize], out: &mut [f32]) {
        let (is_whole, pitch) = (block.last == V::LANES, self.dense.pitch);
        // A packed block begins with its first column.
        let first = if pitch == self.columns { block.first } else { 0 };
        let b = self.dense.elements.as_ptr().wrapping_add(first);
        for (ends, out) in starts.windows(2).zip(out.chunks_exact_mut(self.columns)) {
            let entries = &self.rows.entries[ends[0]..ends[1]];
            // SAFETY: guaranteed by the caller, here and below.
            let mut sums = [unsafe { V::splat(if entries.is_empty() { 0.0 } else { -0.0 }) }; NV];
            for entry in entries {
                let from = b.wrapping_add(entry.column as usize * pitch);
                // SAFETY: as above.
                let value = unsafe { V::splat(entry.value) };
                for (v, sum) in sums.iter_mut().enumerate() {
                    // SAFETY: as above.
                    *sum = unsafe { value.multiply_add(V::load(from.add(v * V::LANES)), *sum) };
                }
            }
            let out = &mut out[block.first..];
            for (v, sum) in sums.into_iter().enumerate() {
                if v + 1 < NV || is_whole {
                    // SAFETY: as above.
                    unsafe { sum.store(out.as_mut_ptr().add(v * V::LANES)) };
                } else {
                    let mut lanes = [0.0; MAX_LANES];
                    // SAFETY: vectors have at most as many lanes.
                    unsafe { sum.store(lanes.as_mut_ptr()) };
                    let rest = &mut out[v * V::LANES..][..block.last];
                    rest.iter_mut().zip(lanes).for_each(|(to, lane)| *to = lane);
                }
            }
        }
    }
}

/// The columns of a block, `width` from `first` on, copied to rows `pitch` apart.
struct Pack<'a> {
    b: &'a [f32],
    columns: usize,
    first: usize,
    width: usize,
    pitch: usize,
    packed: &'a mut [f32],
}

impl Loops for Pack<'_> {
    #[inline(always)]
    fn run<M: MultiplyAdd>(self) {
        for (row, to) in self.b.chunks_exact(self.columns).zip(self.packed.chunks_exact_mut(self.pitch)) {
            let (lines, rest) = row[self.first..][..self.width].as_chunks::<MAX_LANES>();
            let (to_lines, to_rest) = to[..self.width].as_chunks_mut::<MAX_LANES>();
            to_lines.iter_mut().zip(lines).for_each(|(to, line)| *to = *line);
            to_rest.iter_mut().zip(rest).for_each(|(to, x)| *to = *x);
        }
    }
}

/// Divides columns into blocks of almost equal numbers of vectors, `most` or fewer. Unless they are packed, the last blocks overlap if
/// columns do not fill vectors.
fn blocks([lanes, most]: [usize; 2], columns: usize, is_packed: bool) -> impl Iterator<Item = Block> {
    let vectors = columns.div_ceil(lanes);
    let overlaps = !is_packed && !columns.is_multiple_of(lanes);
    let count = vectors.div_ceil(most).max(if overlaps { 2 } else { 1 });
    (0..count).map(move |i| {
        let [begin, end] = [i, i + 1].map(|i| i * vectors / count);
        let size = (end - begin) * lanes;
        let first = if overlaps { (begin * lanes).min(columns - size) } else { begin * lanes };
        Block { first, vectors: end - begin, last: lanes.min(columns + lanes - first - size) }
    })
}

/// Returns the number of lanes of vectors.
fn lanes(isa: Option<Isa>) -> usize {
    match isa {
        Some(Isa::Avx512) => 16,
        Some(Isa::Avx2 | Isa::Portable) => 8,
        Some(Isa::Neon) => 4,
        None => 1,
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::Part;
    use std::arch::x86_64::{__m256, __m512};

    /// Computes some rows with AVX-512.
    ///
    /// # Safety
    /// As for [`Part::run`].
    #[target_feature(enable = "avx512f")]
    pub(super) unsafe fn avx512(part: &Part<'_>, out: &mut [f32]) {
        // SAFETY: guaranteed by the caller.
        unsafe { part.run::<__m512>(out) }
    }

    /// Computes some rows with AVX2.
    ///
    /// # Safety
    /// As for [`Part::run`].
    #[target_feature(enable = "avx2,fma")]
    pub(super) unsafe fn avx2(part: &Part<'_>, out: &mut [f32]) {
        // SAFETY: guaranteed by the caller.
        unsafe { part.run::<__m256>(out) }
    }
}

#[cfg(test)]
mod tests;
