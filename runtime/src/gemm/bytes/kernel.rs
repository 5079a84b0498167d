//! The innermost loops: a tile of sums in registers.

#![allow(clippy::needless_range_loop, reason = "loops of constant length are unrolled, and arrays become registers")]

use super::dots::Dots;
use crate::gemm::kernel::Run;

/// A tile: a few rows by a panel of columns, over some of the summands.
pub(super) struct Tile<'a> {
    /// The buffer.
    pub a: *const u8,
    /// Offsets for the rows of the tile; those of the next row are `table_stride` further.
    pub table: *const i32,
    /// From row to row of the table.
    pub table_stride: usize,
    /// What stands for a run of zeros in the table, if anything does.
    pub hole: Option<i32>,
    /// A run of zeros.
    pub zeros: *const u8,
    /// Where the runs of summands begin.
    pub runs: &'a [Run],
    /// How many summands a run has.
    pub run: usize,
    /// The panel: for each four summands, four bytes for each column.
    pub b: *const i8,
    /// The sums, a row of the panel's width after the other.
    pub sums: *mut i32,
    /// Whether these are the first summands: there are no sums yet.
    pub first: bool,
}

/// Computes tiles of one size.
pub(super) type Kernel = unsafe fn(&Tile<'_>);

/// A tile of `MR` rows and `NV` vectors, of bytes with a sign if `SIGNED`.
///
/// # Safety
/// The machine has the vectors. The table has `MR` rows, and all that they and the runs say is in the buffer; `zeros` is a
/// run. At `b` are four bytes for each column and [`steps`] of each run. `sums` can be written, and read unless `first`,
/// for each element of the tile.
#[inline(always)]
pub(super) unsafe fn tile<D: Dots, const MR: usize, const NV: usize, const SIGNED: bool>(t: &Tile<'_>) {
    // SAFETY: rows, summands and columns are those that the caller promises. Steps of runs of four and more begin at most
    // four before the end.
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

/// How many steps of four summands a run has. If the last has fewer, it has some before that again, or zeros where the run is
/// shorter than that.
pub(super) fn steps(run: usize) -> usize {
    run.div_ceil(4)
}

/// Which summand of a run is the first of a step. Nothing beyond the run is read, which may be beyond the buffer.
pub(super) fn first(step: usize, run: usize) -> usize {
    (4 * step).min(run.saturating_sub(4))
}

/// Adds four products to each sum.
///
/// # Safety
/// The machine has the vectors; at `b` are four bytes for each column.
#[inline(always)]
unsafe fn step<D: Dots, const MR: usize, const NV: usize, const SIGNED: bool>(
    sums: &mut [[D; NV]; MR],
    b: &mut *const i8,
    four: impl Fn(usize) -> i32,
) {
    // SAFETY: the caller's promise.
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

/// So many bytes, up to three, and zeros.
///
/// # Safety
/// There are as many.
#[inline(always)]
unsafe fn few(from: *const u8, count: usize) -> i32 {
    let mut four = [0; 4];
    for i in 0..count.min(3) {
        // SAFETY: the caller's promise.
        four[i] = unsafe { *from.add(i) };
    }
    i32::from_ne_bytes(four)
}
