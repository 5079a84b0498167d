//! The innermost loops: a tile of a product in registers, its rows found by tables.

#![allow(clippy::needless_range_loop, reason = "loops of constant length are unrolled, and arrays become registers")]

use crate::vector::Vector;

/// A tile of a product: a few rows by a panel of columns, over some of the summands.
pub(super) struct Tile<'a> {
    /// The buffer.
    pub a: *const f32,
    /// Offsets for the rows of the tile; those of the next row are `table_stride` further.
    pub table: *const i32,
    /// From row to row of the table.
    pub table_stride: usize,
    /// Where the runs of summands begin.
    pub runs: &'a [Run],
    /// How many summands a run has.
    pub run: usize,
    /// The panel: for each summand, a number for each column.
    pub b: *const f32,
    /// What will be read after this tile: a line of it for each summand, each so many numbers behind the one before.
    pub ahead: *const f32,
    pub ahead_step: usize,
    /// The first element of the result.
    pub c: *mut f32,
    /// From row to row of the result, and of what is added to it.
    pub stride: usize,
    /// Whether these are the first summands: nothing is in the result yet.
    pub first: bool,
    /// What happens after the last summands.
    pub last: Option<Last>,
}

/// A run of summands, which lie side by side.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Run {
    /// Which of a row's offsets it begins at.
    pub column: usize,
    /// How much further.
    pub offset: i32,
}

/// Zeros in place of the runs of which a table says that they are nowhere.
pub(super) static ZEROS: [f32; super::MAX_SUMMANDS] = [0.0; super::MAX_SUMMANDS];

/// What happens to a finished tile.
#[derive(Clone, Copy)]
pub(super) struct Last {
    /// A number for each column, to be added.
    pub bias: Option<*const f32>,
    /// A number for each element, to be added.
    pub add: Option<*const f32>,
    /// No result is less.
    pub low: f32,
    /// No result is greater.
    pub high: f32,
}

/// Computes tiles of one size.
pub(super) type Kernel = unsafe fn(&Tile<'_>);

/// A tile of `MR` rows and `NV` vectors. With `HOLES`, offsets of -1 stand for zeros.
///
/// # Safety
/// The machine has the vectors. The table has `MR` rows, and all that they and the runs say is in the buffer. At `b` are as
/// many numbers as summands times columns; `c` can be written and `bias` and `add` be read for each element of the tile.
#[inline(always)]
pub(super) unsafe fn tile<V: Vector, const MR: usize, const NV: usize, const HOLES: bool>(t: &Tile<'_>) {
    // SAFETY: rows, summands and columns are those that the caller promises.
    unsafe {
        let mut sums = [[V::splat(0.0); NV]; MR];
        let (mut b, mut ahead) = (t.b, t.ahead);
        let add = t.last.and_then(|last| last.add);
        for i in 0..MR {
            for v in 0..NV {
                let at = i * t.stride + v * V::LANES;
                V::prefetch(t.c.wrapping_add(at));
                if let Some(add) = add {
                    V::prefetch(add.wrapping_add(at));
                }
            }
        }
        for run in t.runs {
            let mut rows = [t.a; MR];
            for i in 0..MR {
                let at = *t.table.add(i * t.table_stride + run.column);
                rows[i] = t.a.wrapping_offset(at as isize + run.offset as isize);
                if HOLES && at == -1 {
                    rows[i] = ZEROS.as_ptr();
                }
            }
            for k in 0..t.run {
                let mut columns = [V::splat(0.0); NV];
                for v in 0..NV {
                    columns[v] = V::load(b.add(v * V::LANES));
                }
                for i in 0..MR {
                    let x = V::splat(*rows[i].add(k));
                    for v in 0..NV {
                        sums[i][v] = x.times_plus(columns[v], sums[i][v]);
                    }
                }
                b = b.add(NV * V::LANES);
                V::prefetch(ahead);
                ahead = ahead.wrapping_add(t.ahead_step);
            }
        }
        for i in 0..MR {
            for v in 0..NV {
                finish(t, sums[i][v], i * t.stride + v * V::LANES, v * V::LANES);
            }
        }
    }
}

/// Writes a vector of sums.
///
/// # Safety
/// [`tile`]'s.
#[inline(always)]
unsafe fn finish<V: Vector>(t: &Tile<'_>, mut sum: V, at: usize, column: usize) {
    // SAFETY: `at` and `column` are in the tile.
    unsafe {
        if !t.first {
            sum = sum.plus(V::load(t.c.add(at)));
        }
        if let Some(last) = &t.last {
            if let Some(bias) = last.bias {
                sum = sum.plus(V::load(bias.add(column)));
            }
            if let Some(add) = last.add {
                sum = sum.plus(V::load(add.add(at)));
            }
            sum = sum.between(V::splat(last.low), V::splat(last.high));
        }
        sum.store(t.c.add(at));
    }
}
