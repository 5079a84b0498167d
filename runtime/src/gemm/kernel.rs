//! The f32 micro-kernel: a register tile `mr x nr` of the result, with rows of A found by an address table.

#![allow(clippy::needless_range_loop, reason = "loops of constant length are unrolled, and arrays become registers")]

use super::panels::PANEL;
use crate::ElementwiseEpilogue;
use crate::aligned_bytes::LINE;
use crate::vector::Vector;
use gradus_networks::layout::ZERO_PAGE;
use std::ops::Range;
use std::sync::atomic::{Ordering, compiler_fence};

/// The operands of a micro-kernel call: `mr` rows times a group of panels, over a range of summands.
pub(super) struct Tile<'a> {
    /// The buffer of A, or the packed rows.
    pub a: *const f32,
    /// Offsets of the first row of the tile; the next row is `table_stride` entries further.
    pub table: *const i32,
    /// Row stride of the table.
    pub table_stride: usize,
    /// The runs of summands.
    pub runs: &'a [SummandRun],
    /// The walk over their offsets.
    pub walk: OffsetWalk,
    /// Number of summands per run. See [`reads_whole_steps`].
    pub run: usize,
    /// The first panel of B: [`PANEL`] elements per summand.
    pub b: *const f32,
    /// Number of elements from panel to panel.
    pub b_stride: usize,
    /// Address for software prefetch: some [lines](lines_ahead) per [`UNROLL`] summands, of each panel that is read next.
    pub ahead: *const f32,
    /// Number of elements from line to line: 0 if there are no more.
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
pub(super) struct SummandRun {
    /// Column of the address table.
    pub column: usize,
    /// Offset added to the table entry, or in a running sum its difference from that of the previous run.
    pub offset: i32,
}

/// A walk over the offsets of runs, in either encoding: absolute offsets replace the previous one, differences are added to
/// it. It takes no branch.
#[derive(Clone, Copy, Debug)]
pub(super) struct OffsetWalk {
    /// Offset of the previous run.
    pub at: isize,
    /// -1 if offsets are differences, otherwise 0.
    pub keep: isize,
}

impl OffsetWalk {
    /// Returns the offset of the next run.
    #[inline(always)]
    pub fn next(&mut self, run: &SummandRun) -> isize {
        self.at = (self.at & self.keep) + run.offset as isize;
        self.at
    }
}

/// The elements of runs that are padding.
pub(super) static ZEROS: [f32; super::LONGEST_RUN] = [0.0; super::LONGEST_RUN];

/// The epilogue of a tile.
#[derive(Clone, Copy)]
pub(super) struct Epilogue {
    /// Bias, one element per column.
    pub bias: Option<*const f32>,
    /// Residual, one element per element of the tile.
    pub add: Option<*const f32>,
    /// The functions of each element.
    pub elementwise: ElementwiseEpilogue,
}

/// Number of summands per iteration of the innermost loop, so that few of its instructions count and prefetch.
pub(super) const UNROLL: usize = 4;

/// Returns the number of cache lines of each panel of a group that are prefetched per [`UNROLL`] summands: a quarter of
/// them, or half of a single panel, whose tiles have more rows.
pub(super) const fn lines_ahead(panels: usize) -> usize {
    let lines = UNROLL * PANEL * size_of::<f32>() / LINE;
    if panels > 1 { lines / 4 } else { lines / 2 }
}

/// A micro-kernel of one tile size.
pub(super) type Kernel = unsafe fn(&Tile<'_>);

/// Whether micro-kernels with a number of registers read only runs through the table that are multiples of [`UNROLL`]. With
/// 16, accumulators would be spilled between the loops over steps and over the rest.
pub(super) const fn reads_whole_steps(registers: usize) -> bool {
    registers <= 16
}

/// How a micro-kernel reads A.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Left {
    /// Through the table.
    Table,
    /// Through the table, where offset -1 reads zeros.
    Holes,
    /// From packed rows: `mr` elements per summand.
    Packed,
}

/// Computes a tile of `MR` rows and `NV` vectors of columns, with A read as [`Left`] number `LEFT`.
///
/// # Safety
/// The machine has the vectors. The table has `MR` rows, and all offsets of table and runs are inside the buffer; or `a`
/// has `MR` elements per summand, if it is packed. The panels of B have one element per summand and column. `c` is
/// writable, and `bias` and `add` are readable, for each element of the tile.
#[inline(always)]
pub(super) unsafe fn tile<V: Vector, const MR: usize, const NV: usize, const LEFT: usize>(t: &Tile<'_>) {
    // SAFETY: rows, summands and columns are those that the caller guarantees.
    unsafe {
        let mut sums = Sums::<V, MR, NV> {
            of: [[V::splat(0.0); NV]; MR],
            b: t.b,
            b_stride: t.b_stride,
            ahead: t.ahead,
            ahead_step: t.ahead_step,
        };
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
        if LEFT == Left::Packed as usize {
            let (summands, at) = (t.runs.len() * t.run, |i, k| t.a.add(k * MR + i));
            let done = sums.add(summands, at);
            sums.rest(done..summands, at);
        } else {
            let mut walk = t.walk;
            for run in t.runs {
                let (mut rows, offset) = ([t.a; MR], walk.next(run));
                for i in 0..MR {
                    let at = *t.table.add(i * t.table_stride + run.column);
                    rows[i] = t.a.wrapping_offset(at as isize + offset);
                    if LEFT == Left::Holes as usize && at == ZERO_PAGE {
                        rows[i] = ZEROS.as_ptr();
                    }
                }
                let at = |i: usize, k| rows[i].add(k);
                let done = sums.add(t.run, at);
                if !reads_whole_steps(V::REGISTERS) {
                    sums.rest(done..t.run, at);
                }
            }
        }
        for i in 0..MR {
            for v in 0..NV {
                finish(t, sums.of[i][v], i * t.stride + v * V::LANES, v * V::LANES);
            }
        }
        // A loop of its own: in that over accumulators, it would not be unrolled, which takes them out of registers.
        if let Some(Epilogue { elementwise, .. }) = t.epilogue.filter(|last| last.elementwise.hard_swish) {
            for i in 0..MR {
                for v in 0..NV {
                    let to = t.c.add(i * t.stride + v * V::LANES);
                    elementwise.activated(V::load(to)).store(to);
                }
            }
        }
    }
}

/// The accumulators of a tile, and the places where its next summands are.
struct Sums<V, const MR: usize, const NV: usize> {
    of: [[V; NV]; MR],
    b: *const f32,
    b_stride: usize,
    ahead: *const f32,
    ahead_step: usize,
}

impl<V: Vector, const MR: usize, const NV: usize> Sums<V, MR, NV> {
    /// Number of panels.
    const PANELS: usize = (NV * V::LANES).div_ceil(PANEL);

    /// Adds the summands below `count` in steps of [`UNROLL`], where `at(i, k)` is the place of summand k of row i. Returns
    /// their number.
    ///
    /// # Safety
    /// As for [`tile`]: each row has `count` elements at these places.
    #[inline(always)]
    unsafe fn add(&mut self, count: usize, at: impl Fn(usize, usize) -> *const f32) -> usize {
        let mut k = 0;
        // SAFETY: guaranteed by the caller.
        unsafe {
            while k + UNROLL <= count {
                for j in 0..UNROLL {
                    self.summand(k + j, j, &at);
                    // The compiler would load all columns of a step first, and spill accumulators.
                    compiler_fence(Ordering::SeqCst);
                }
                self.b = self.b.add(UNROLL * PANEL);
                for _ in 0..lines_ahead(Self::PANELS) {
                    for panel in 0..Self::PANELS {
                        V::prefetch(self.ahead.wrapping_add(panel * self.b_stride));
                    }
                    self.ahead = self.ahead.wrapping_add(self.ahead_step);
                }
                k += UNROLL;
            }
        }
        k
    }

    /// Adds some more summands.
    ///
    /// # Safety
    /// As for [`add`](Sums::add).
    #[inline(always)]
    unsafe fn rest(&mut self, summands: Range<usize>, at: impl Fn(usize, usize) -> *const f32) {
        for k in summands {
            // SAFETY: guaranteed by the caller.
            unsafe {
                self.summand(k, 0, &at);
                self.b = self.b.add(PANEL);
            }
        }
    }

    /// Adds summand k, which is the j-th from here on in B.
    ///
    /// # Safety
    /// As for [`add`](Sums::add).
    #[inline(always)]
    unsafe fn summand(&mut self, k: usize, j: usize, at: &impl Fn(usize, usize) -> *const f32) {
        // SAFETY: guaranteed by the caller.
        unsafe {
            let mut columns = [V::splat(0.0); NV];
            for v in 0..NV {
                let (panel, column) = (v * V::LANES / PANEL, v * V::LANES % PANEL);
                columns[v] = V::load(self.b.add(panel * self.b_stride + j * PANEL + column));
            }
            for i in 0..MR {
                let x = V::splat(*at(i, k));
                for v in 0..NV {
                    self.of[i][v] = x.multiply_add(columns[v], self.of[i][v]);
                }
            }
        }
    }
}

/// Applies the epilogue up to the clamp to one vector and stores it.
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
            sum = last.elementwise.clamped(sum);
        }
        sum.store(t.c.add(at));
    }
}
