//! The f32 micro-kernel: a register tile `mr x nr` of the result, with rows of A found by an address table.

#![allow(clippy::needless_range_loop, reason = "loops of constant length are unrolled, and arrays become registers")]

use crate::vector::Vector;

/// The operands of a micro-kernel call: `mr` rows times one panel, over a range of summands.
pub(super) struct Tile<'a> {
    /// The buffer of A.
    pub a: *const f32,
    /// Offsets of the first row of the tile; the next row is `table_stride` entries further.
    pub table: *const i32,
    /// Row stride of the table.
    pub table_stride: usize,
    /// The runs of summands.
    pub runs: &'a [Run],
    /// Number of summands per run.
    pub run: usize,
    /// The panel of B: `nr` elements per summand.
    pub b: *const f32,
    /// Address for software prefetch: one cache line per summand of the panel that is read next.
    pub ahead: *const f32,
    pub ahead_step: usize,
    /// The first element of the result tile.
    pub c: *mut f32,
    /// Leading dimension (`ldc`) of the result and of the residual.
    pub stride: usize,
    /// Whether these are the first summands, so that the accumulators start at zero instead of the result.
    pub first: bool,
    /// The epilogue, with the last summands.
    pub epilogue: Option<Epilogue>,
}

/// A contiguous run of summands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Run {
    /// Column of the address table.
    pub column: usize,
    /// Offset added to the table entry.
    pub offset: i32,
}

/// The elements of runs that are padding.
pub(super) static ZEROS: [f32; super::MAX_SUMMANDS] = [0.0; super::MAX_SUMMANDS];

/// The epilogue of a tile: bias, residual, clamp.
#[derive(Clone, Copy)]
pub(super) struct Epilogue {
    /// Bias, one element per column.
    pub bias: Option<*const f32>,
    /// Residual, one element per element of the tile.
    pub add: Option<*const f32>,
    /// Lower bound of the clamp.
    pub low: f32,
    /// Upper bound of the clamp.
    pub high: f32,
}

/// A micro-kernel of one tile size.
pub(super) type Kernel = unsafe fn(&Tile<'_>);

/// Computes a tile of `MR` rows and `NV` vectors. With `HOLES`, offset -1 reads zeros.
///
/// # Safety
/// The machine has the vectors. The table has `MR` rows, and all offsets of table and runs are inside the buffer. `b`
/// has one element per summand and column. `c` is writable, and `bias` and `add` are readable, for each element of the
/// tile.
#[inline(always)]
pub(super) unsafe fn tile<V: Vector, const MR: usize, const NV: usize, const HOLES: bool>(t: &Tile<'_>) {
    // SAFETY: rows, summands and columns are those that the caller guarantees.
    unsafe {
        let mut sums = [[V::splat(0.0); NV]; MR];
        let (mut b, mut ahead) = (t.b, t.ahead);
        let add = t.epilogue.and_then(|last| last.add);
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
                        sums[i][v] = x.multiply_add(columns[v], sums[i][v]);
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

/// Applies the epilogue to one vector and stores it.
///
/// # Safety
/// As for [`tile`].
#[inline(always)]
unsafe fn finish<V: Vector>(t: &Tile<'_>, mut sum: V, at: usize, column: usize) {
    // SAFETY: `at` and `column` are inside the tile.
    unsafe {
        if !t.first {
            sum = sum.plus(V::load(t.c.add(at)));
        }
        if let Some(last) = &t.epilogue {
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
