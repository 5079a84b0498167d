//! The 8-bit micro-kernel: a register tile of 32-bit accumulators.

#![allow(clippy::needless_range_loop, reason = "loops of constant length are unrolled, and arrays become registers")]

use super::dots::Dots;
use super::scales::ByteRange;
use crate::gemm::kernel::{OffsetWalk, SummandRun};
use crate::gemm::tile_rows::TileSource;
use crate::vector::{Floats, ROUND, Vector};

/// The operands of a micro-kernel call: some rows times one panel.
pub(super) struct ByteTile<'a> {
    /// The buffer of A.
    pub a: *const u8,
    /// Offsets of the first row of the tile; the next row is `table_stride` entries further.
    pub table: *const i32,
    /// Row stride of the table.
    pub table_stride: usize,
    /// Table entry for a padding run; no entry if there are none.
    pub hole: i64,
    /// A padding run: the zero point.
    pub zeros: *const u8,
    /// Number of rows.
    pub rows: usize,
    /// The tiles of the rows, if they are collected: those of each strip of 16 rows, `steps` of each.
    pub strips: [*const TileSource; 2],
    /// Number of tiles per strip.
    pub steps: usize,
    /// The runs of summands.
    pub runs: &'a [SummandRun],
    /// The walk over their offsets.
    pub walk: OffsetWalk,
    /// Number of summands per run.
    pub run: usize,
    /// The panel of B: four bytes per column and group of four summands.
    pub b: *const i8,
    /// Initial accumulators, one per column of the panel.
    pub bias: *const i32,
    /// The accumulators, row-major with the panel's width.
    pub sums: *mut i32,
    /// The requantization to bytes, if any.
    pub quantize: Option<Quantize>,
}

/// The requantization of a tile, and its destination.
pub(super) struct Quantize {
    /// A summand for each row, or null.
    pub terms: *const i32,
    /// Scales, one per column of the panel.
    pub scales: *const f32,
    pub bounds: ByteRange,
    /// The destination of the first row: as many bytes as the panel has columns.
    pub to: *mut u8,
    /// Row stride of the destination.
    pub stride: usize,
}

/// A micro-kernel of one tile size. Stores the accumulators, and returns whether it also requantized them.
pub(super) type Kernel = unsafe fn(&ByteTile<'_>) -> bool;

/// Computes a tile of `MR` rows and `NV` vectors, with signed bytes of A if `SIGNED`.
///
/// # Safety
/// The machine has the vectors. The table has `MR` rows, and all offsets of table and runs are inside the buffer;
/// `zeros` is one run. `b` has four bytes per column and [step](steps) of each run. `bias` and scales cover the panel's
/// columns, the terms its rows. `sums` and the destination of the requantization are writable for each element of the tile.
#[inline(always)]
pub(super) unsafe fn tile<D: Dots, const MR: usize, const NV: usize, const SIGNED: bool>(t: &ByteTile<'_>) -> bool {
    // SAFETY: rows, summands and columns are those that the caller guarantees. Steps of runs of at least four summands
    // start at most four before the end.
    unsafe {
        let mut first = [D::load(t.bias); NV];
        for v in 1..NV {
            first[v] = D::load(t.bias.add(v * D::LANES));
        }
        let mut sums = [first; MR];
        let mut b = t.b;
        let mut walk = t.walk;
        for run in t.runs {
            let (mut rows, offset) = ([t.a; MR], walk.next(run));
            for i in 0..MR {
                let at = *t.table.add(i * t.table_stride + run.column);
                rows[i] = t.a.wrapping_offset(at as isize + offset);
                if t.hole == i64::from(at) {
                    rows[i] = t.zeros;
                }
            }
            if t.run < 4 {
                step::<D, MR, NV, SIGNED>(&mut sums, &mut b, |i| few(rows[i], t.run));
                continue;
            }
            for k in 0..t.run / 4 {
                step::<D, MR, NV, SIGNED>(&mut sums, &mut b, |i| rows[i].add(4 * k).cast::<i32>().read_unaligned());
            }
            if !t.run.is_multiple_of(4) {
                let k = t.run - 4;
                step::<D, MR, NV, SIGNED>(&mut sums, &mut b, |i| rows[i].add(k).cast::<i32>().read_unaligned());
            }
        }
        for i in 0..MR {
            for v in 0..NV {
                sums[i][v].store(t.sums.add((i * NV + v) * D::LANES));
            }
        }
        t.quantize.as_ref().is_some_and(|q| requantize::<D, NV>(MR, t.sums, q))
    }
}

/// Adds the terms of rows to a tile, and requantizes it in f32. Returns whether no product is so close to a rounding boundary that it
/// needs f64.
///
/// The product is added to [`ROUND`] with a single rounding; then the low bits are the nearest integer.
///
/// # Safety
/// The machine has the vectors; sums, scales and destination exist for all columns of all rows, and terms for all rows.
#[inline(always)]
pub(super) unsafe fn requantize<D: Dots, const NV: usize>(rows: usize, sums: *mut i32, q: &Quantize) -> bool {
    // SAFETY: guaranteed by the caller.
    unsafe {
        let round = D::Float::splat(ROUND);
        let (bounds, mut off) = (D::bounds(&q.bounds), D::Float::splat(0.0));
        for i in 0..rows {
            let mut rounded = [round; NV];
            if !q.terms.is_null() {
                let term = *q.terms.add(i);
                for column in i * NV * D::LANES..(i + 1) * NV * D::LANES {
                    *sums.add(column) = (*sums.add(column)).wrapping_add(term);
                }
            }
            for v in 0..NV {
                let x = D::Float::from_integers(sums.add((i * NV + v) * D::LANES));
                let scale = D::Float::load(q.scales.add(v * D::LANES));
                rounded[v] = x.multiply_add(scale, round);
                off = off.max_magnitude(x.multiply_add(scale, round.minus(rounded[v])));
            }
            D::store_bytes(rounded, bounds, q.to.add(i * q.stride));
        }
        !off.any_at_least(0.5 - D::OFF)
    }
}

/// Returns the number of steps of four summands in a run. The last step overlaps the one before, or is zero-padded in a run
/// of fewer than four.
pub(super) fn steps(run: usize) -> usize {
    run.div_ceil(4)
}

/// Returns the first summand of a step. No step reads past the end of the run, which may be the end of the buffer.
pub(super) fn first(step: usize, run: usize) -> usize {
    (4 * step).min(run.saturating_sub(4))
}

/// Adds four products to each accumulator.
///
/// # Safety
/// The machine has the vectors; `b` has four bytes per column.
#[inline(always)]
unsafe fn step<D: Dots, const MR: usize, const NV: usize, const SIGNED: bool>(
    sums: &mut [[D; NV]; MR],
    b: &mut *const i8,
    four: impl Fn(usize) -> i32,
) {
    // SAFETY: guaranteed by the caller.
    unsafe {
        let mut right = [D::right(*b); NV];
        for v in 1..NV {
            right[v] = D::right(b.add(v * D::LANES * 4));
        }
        for i in 0..MR {
            let left = D::left::<SIGNED>(four(i));
            for v in 0..NV {
                sums[i][v] = sums[i][v].plus_products(left, right[v]);
            }
        }
        *b = b.add(NV * D::LANES * 4);
    }
}

/// Loads up to three bytes, zero-extended.
///
/// # Safety
/// There are `count` bytes.
#[inline(always)]
unsafe fn few(from: *const u8, count: usize) -> i32 {
    let mut four = [0; 4];
    for i in 0..count.min(3) {
        // SAFETY: guaranteed by the caller.
        four[i] = unsafe { *from.add(i) };
    }
    i32::from_ne_bytes(four)
}
