//! The innermost loops: a tile of a product in registers, its rows found by tables.

use super::vector::Vector;

/// A tile of a product: a few rows by a panel of columns, over some of the summands.
pub(super) struct Tile<'a> {
    /// The buffer.
    pub a: *const f32,
    /// An offset for each row of the tile.
    pub rows: &'a [i32],
    /// Where runs of summands begin, from there.
    pub runs: &'a [i32],
    /// How many summands a run has.
    pub run: usize,
    /// The panel: for each summand, a number for each column.
    pub b: *const f32,
    /// The first element of the result.
    pub c: *mut f32,
    /// From row to row of the result, and of what is added to it.
    pub stride: usize,
    /// Whether these are the first summands: nothing is in the result yet.
    pub first: bool,
    /// What happens after the last summands.
    pub last: Option<Last>,
}

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

/// A tile of `MR` rows and `NV` vectors.
///
/// # Safety
/// The machine has the vectors. `rows` has `MR` entries, and `a[row + run + k]` is in the buffer for all of them. At `b` are
/// as many numbers as summands times columns; `c` can be written and `bias` and `add` be read for each element of the tile.
#[inline(always)]
pub(super) unsafe fn tile<V: Vector, const MR: usize, const NV: usize>(t: &Tile<'_>) {
    // SAFETY: rows, summands and columns are those that the caller promises.
    unsafe {
        let mut sums = [[V::splat(0.0); NV]; MR];
        let mut b = t.b;
        for &run in t.runs {
            let mut rows = [t.a; MR];
            for i in 0..MR {
                rows[i] = t.a.offset(*t.rows.get_unchecked(i) as isize + run as isize);
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
