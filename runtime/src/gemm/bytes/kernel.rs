//! The 8-bit micro-kernel: a register tile of 32-bit accumulators.

#![allow(clippy::needless_range_loop, reason = "loops of constant length are unrolled, and arrays become registers")]

use super::dots::Dots;
use crate::gemm::kernel::Run;

/// The operands of a micro-kernel call: some rows times one panel, over a range of summands.
pub(super) struct Tile<'a> {
    /// The buffer of A.
    pub a: *const u8,
    /// Offsets of the first row of the tile; the next row is `table_stride` entries further.
    pub table: *const i32,
    /// Row stride of the table.
    pub table_stride: usize,
    /// Table entry for a padding run, if there are any.
    pub hole: Option<i32>,
    /// A padding run: the zero point.
    pub zeros: *const u8,
    /// The runs of summands.
    pub runs: &'a [Run],
    /// Number of summands per run.
    pub run: usize,
    /// The panel of B: four bytes per column and group of four summands.
    pub b: *const i8,
    /// The accumulators, row-major with the panel's width.
    pub sums: *mut i32,
    /// Whether these are the first summands, so that the accumulators start at zero.
    pub first: bool,
}

/// A micro-kernel of one tile size.
pub(super) type Kernel = unsafe fn(&Tile<'_>);

/// Computes a tile of `MR` rows and `NV` vectors, with signed bytes of A if `SIGNED`.
///
/// # Safety
/// The machine has the vectors. The table has `MR` rows, and all offsets of table and runs are inside the buffer;
/// `zeros` is one run. `b` has four bytes per column and [step](steps) of each run. `sums` is writable, and readable
/// unless `first`, for each element of the tile.
#[inline(always)]
pub(super) unsafe fn tile<D: Dots, const MR: usize, const NV: usize, const SIGNED: bool>(t: &Tile<'_>) {
    // SAFETY: rows, summands and columns are those that the caller guarantees. Steps of runs of at least four summands
    // start at most four before the end.
    unsafe {
        let mut sums = [[D::zero(); NV]; MR];
        let mut b = t.b;
        for run in t.runs {
            let mut rows = [t.a; MR];
            for i in 0..MR {
                let at = *t.table.add(i * t.table_stride + run.column);
                rows[i] = t.a.wrapping_offset(at as isize + run.offset as isize);
                if t.hole == Some(at) {
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
                let at = t.sums.add((i * NV + v) * D::LANES);
                let sum = if t.first { sums[i][v] } else { sums[i][v].plus(D::load(at)) };
                sum.store(at);
            }
        }
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
