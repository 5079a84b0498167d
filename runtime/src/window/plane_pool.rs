//! Pools of images with channels first: each window is reduced along the rows of the image, then along its columns.
//!
//! A vector holds neighbouring positions. The rows of a window are reduced to one row with its padding, which stays in the L1 cache; windows
//! two columns apart divide it into even and odd columns in registers, and windows further apart are picked from those of all columns.

use super::kernel::{Max, Reduce, Sum};
use super::partial::{OnPartial, Partial, on_rows};
use crate::KernelError;
use crate::vector::{Isa, MAX_LANES};
use crate::workers::{DisjointWriter, Workers};
use gradus_reference_kernels::shape::Window;
use std::marker::PhantomData;
use std::ops::Range;

/// Number of rows of the result whose windows are reduced along the rows of the image before any is along its columns, unless rows are longer
/// than this number of elements together: vectors of a row that was just stored are read late.
const ROWS: usize = 8;
const BLOCK: usize = 4 << 10;
/// Maximum number of rows that the windows of a plane read, counted once for each row of the result.
const MAX_ROWS: usize = 1 << 24;

/// The windows of a plane: of an image of one channel.
#[derive(Clone, Debug)]
pub struct PlanePool {
    /// For each row of the result, its part of `starts`.
    rows: Vec<Range<usize>>,
    /// First elements of the rows that windows read.
    starts: Vec<usize>,
    /// Number of elements of the plane, and of one of its rows.
    elements: usize,
    width: usize,
    /// Number of windows along a row, and of the taps of each.
    outputs: usize,
    taps: usize,
    stride: usize,
    dilation: usize,
    /// Padding before each row.
    padding: usize,
}

/// Factors of the windows, by which sums become means: a product of one of the row and one of the column of the result.
#[derive(Clone, Debug)]
pub struct PoolScale {
    /// Number of elements of the windows of each row, and of each column.
    counts: [Vec<usize>; 2],
    rows: Vec<f32>,
    /// One for each column, and zeros for a vector behind them.
    columns: Vec<f32>,
}

impl PlanePool {
    /// Returns the windows of a pool; `None` if they are too many, or the result is empty.
    pub fn new(window: &Window) -> Option<PlanePool> {
        let last = window.input.len().checked_sub(1)?;
        let mut rows = vec![vec![0]];
        for axis in 0..last {
            let count = rows.iter().map(Vec::len).sum::<usize>().checked_mul(window.output[axis])?;
            count.checked_mul(window.kernel[axis]).filter(|&count| count <= MAX_ROWS)?;
            let positions = |output: usize| {
                let at = |tap: usize| output * window.strides[axis] + tap * window.dilations[axis];
                taps_inside(window, axis, output).map(|tap| at(tap) - window.pads_begin[axis]).collect()
            };
            let of_axis: Vec<Vec<usize>> = (0..window.output[axis]).map(positions).collect();
            let below = |row: &[usize], inside: &[usize]| -> Vec<usize> {
                row.iter().flat_map(|at| inside.iter().map(move |i| at * window.input[axis] + i)).collect()
            };
            rows = rows.iter().flat_map(|row| of_axis.iter().map(move |inside| below(row, inside))).collect();
        }
        let (width, mut starts) = (window.input[last], Vec::new());
        let rows: Vec<Range<usize>> = rows
            .into_iter()
            .map(|row| {
                let first = starts.len();
                starts.extend(row.into_iter().map(|row| row * width));
                first..starts.len()
            })
            .collect();
        let (outputs, taps, padding) = (window.output[last], window.kernel[last], window.pads_begin[last]);
        let extents = [width, outputs, taps, window.strides[last], window.dilations[last], padding + 1, rows.len()];
        extents.iter().all(|n| (1..=MAX_ROWS).contains(n)).then_some(())?;
        (extents[1].checked_mul(extents[3])? + extents[2].checked_mul(extents[4])? <= MAX_ROWS).then_some(())?;
        Some(PlanePool {
            rows,
            starts,
            elements: window.input.iter().product(),
            width,
            outputs,
            taps,
            stride: window.strides[last],
            dilation: window.dilations[last],
            padding,
        })
    }

    /// Reduces the windows of all planes to their maximum, or to their sum times a factor.
    ///
    /// # Errors
    /// Incompatible sizes.
    pub fn compute(
        &self,
        isa: Isa,
        workers: &Workers,
        x: &[f32],
        scale: Option<&PoolScale>,
        out: &mut [f32],
    ) -> Result<(), KernelError> {
        let of_plane = self.rows.len() * self.outputs;
        let planes = out.len() / of_plane;
        let has_factors = scale
            .is_none_or(|scale| scale.rows.len() == self.rows.len() && scale.columns.len() >= self.outputs + MAX_LANES);
        if planes * of_plane != out.len() || planes.checked_mul(self.elements) != Some(x.len()) || !has_factors {
            return Err(format!("{} elements are not whole planes of {}", x.len(), self.elements).into());
        }
        if !isa.is_supported() {
            return Err(format!("this machine does not support {isa:?}").into());
        }
        let taps = self.starts.len() / self.rows.len() * self.stride + self.taps;
        let threads = workers.for_steps((out.len() / MAX_LANES).saturating_mul(taps));
        let rows = planes * self.rows.len();
        let of_part = rows.div_ceil(Workers::parts(threads)).max(1);
        let out = DisjointWriter::new(out);
        workers.share(threads, (0..rows).step_by(of_part), |first| {
            let rows = first..(first + of_part).min(rows);
            // SAFETY: sizes were checked above, each row belongs to one part, and the extension is supported.
            unsafe {
                match scale {
                    Some(_) => on_rows(isa, self.width, RowsOf::<Sum>::new(self, x, scale, rows, &out)),
                    None => on_rows(isa, self.width, RowsOf::<Max>::new(self, x, scale, rows, &out)),
                }
            }
        });
        Ok(())
    }

    /// Returns the number of elements of a row with its padding.
    fn padded(&self) -> usize {
        ((self.taps - 1) * self.dilation + self.outputs * self.stride).max(self.padding + self.width)
    }

    /// Returns the elements of a plane that each of its windows reads, in row-major order.
    pub fn windows(&self) -> impl Iterator<Item = impl Iterator<Item = usize>> {
        let positions = self.rows.iter().flat_map(|rows| (0..self.outputs).map(move |output| (rows.clone(), output)));
        positions.map(move |(rows, output)| {
            let columns = (0..self.taps).map(move |tap| output * self.stride + tap * self.dilation);
            let columns = columns.filter_map(|at| at.checked_sub(self.padding)).filter(|&at| at < self.width);
            self.starts[rows].iter().flat_map(move |start| columns.clone().map(move |at| start + at))
        })
    }

    /// Returns the number of elements of a plane.
    pub fn elements(&self) -> usize {
        self.elements
    }

    /// Returns the given rows of the result with the plane of each, and its row in the plane.
    fn places(&self, rows: Range<usize>) -> impl Iterator<Item = (usize, usize, usize)> + Clone {
        let (mut plane, mut at) = (rows.start / self.rows.len(), rows.start % self.rows.len());
        rows.map(move |row| {
            let place = (row, plane, at);
            at += 1;
            if at == self.rows.len() {
                (plane, at) = (plane + 1, 0);
            }
            place
        })
    }
}

/// Returns the taps of a window along an axis whose positions, counted from the begin of the padding, are in a range.
fn taps_between(window: &Window, axis: usize, output: usize, positions: Range<usize>) -> Range<usize> {
    let (at, dilation) = (output * window.strides[axis], window.dilations[axis]);
    let end = positions.end.saturating_sub(at).div_ceil(dilation).min(window.kernel[axis]);
    positions.start.saturating_sub(at).div_ceil(dilation).min(end)..end
}

/// Returns the taps of a window along an axis that are in the image.
fn taps_inside(window: &Window, axis: usize, output: usize) -> Range<usize> {
    let begin = window.pads_begin[axis];
    taps_between(window, axis, output, begin..begin + window.input[axis])
}

impl PoolScale {
    /// Returns the factors that divide sums by the number of elements, with those of the padding if `with_padding`. Windows of the last
    /// positions may end behind the padding. `None` if a window has no element.
    pub fn of_means(window: &Window, with_padding: bool) -> Option<PoolScale> {
        let last = window.input.len().checked_sub(1)?;
        let count = |axis: usize, output: usize| {
            let end = window.input[axis] + window.pads_begin[axis] + window.pads_end[axis];
            let taps = match with_padding {
                true => taps_between(window, axis, output, 0..end),
                false => taps_inside(window, axis, output),
            };
            Some(taps.len()).filter(|&count| count > 0)
        };
        let counts =
            |axis: usize| (0..window.output[axis]).map(|output| count(axis, output)).collect::<Option<Vec<usize>>>();
        let mut rows = vec![1_usize];
        for axis in 0..last {
            let of_axis = counts(axis)?;
            rows = rows.iter().flat_map(|row| of_axis.iter().map(move |count| row.saturating_mul(*count))).collect();
        }
        let columns = counts(last)?;
        let inverse = |counts: &[usize]| counts.iter().map(|&count| 1.0 / count as f32).collect::<Vec<f32>>();
        let mut scale = PoolScale { rows: inverse(&rows), columns: inverse(&columns), counts: [rows, columns] };
        scale.columns.resize(scale.columns.len() + MAX_LANES, 0.0);
        Some(scale)
    }

    /// Returns the number of elements of a window of a plane.
    pub fn count(&self, window: usize) -> usize {
        let [rows, columns] = &self.counts;
        rows[window / columns.len()].saturating_mul(columns[window % columns.len()])
    }
}

/// The reduction of the windows of some rows of the result, counted over all planes.
struct RowsOf<'a, R> {
    pool: &'a PlanePool,
    x: &'a [f32],
    scale: Option<&'a PoolScale>,
    rows: Range<usize>,
    out: &'a DisjointWriter<f32>,
    reduction: PhantomData<R>,
}

impl<'a, R> RowsOf<'a, R> {
    fn new(
        pool: &'a PlanePool,
        x: &'a [f32],
        scale: Option<&'a PoolScale>,
        rows: Range<usize>,
        out: &'a DisjointWriter<f32>,
    ) -> RowsOf<'a, R> {
        RowsOf { pool, x, scale, rows, out, reduction: PhantomData }
    }
}

impl<R: Reduce> OnPartial for RowsOf<'_, R> {
    #[inline(always)]
    unsafe fn run<V: Partial>(self) {
        let RowsOf { pool, x, scale, rows, out, .. } = self;
        let pitch = pool.padded() + 4 * MAX_LANES;
        let block = (BLOCK / pitch).clamp(1, ROWS);
        let mut joined = vec![R::START; block * pitch];
        let mut all = vec![R::START; if pool.stride > 2 { pitch } else { 0 }];
        // SAFETY: guaranteed by the caller.
        let (end, mask) = unsafe { (RowEnd::<V>::new::<R>(pool.width), V::mask(0..pool.outputs.min(V::LANES))) };
        for first in rows.clone().step_by(block) {
            let places = pool.places(first..rows.end);
            for ((_, plane, at), row) in places.clone().zip(joined.chunks_exact_mut(pitch)) {
                let (x, starts) = (&x[plane * pool.elements..][..pool.elements], &pool.starts[pool.rows[at].clone()]);
                // SAFETY: the plane has the rows, which have four vectors behind them.
                unsafe { pool.join_rows::<V, R>(x, starts, &end, row) };
            }
            for ((row_of_all, _, at), row) in places.zip(joined.chunks_exact(pitch)) {
                let place = ResultRow {
                    first: row_of_all * pool.outputs,
                    left: (rows.end - row_of_all) * pool.outputs,
                    factors: scale.map(|scale| (scale.rows[at], &scale.columns[..])),
                    mask,
                };
                // SAFETY: the caller has exclusive access to this row and those behind it.
                unsafe {
                    match pool.stride {
                        1 => pool.join_columns::<V, R, 1>(row, &place, out),
                        2 => pool.join_columns::<V, R, 2>(row, &place, out),
                        _ => pool.pick_columns::<V, R>(row, &mut all, &place, out),
                    }
                }
            }
        }
    }
}

/// The last lanes of a row that does not fill its vectors.
struct RowEnd<V: Partial> {
    mask: V::Mask,
    /// Zeros in the lanes of the mask, and the neutral element in the others.
    fill: V,
}

impl<V: Partial> RowEnd<V> {
    /// Returns the last lanes of a row of `width` elements.
    ///
    /// # Safety
    /// The machine has the vectors.
    #[inline(always)]
    unsafe fn new<R: Reduce>(width: usize) -> RowEnd<V> {
        let lanes = width % V::LANES;
        let mut fill = [R::START; MAX_LANES];
        fill[..lanes].fill(-0.0);
        // SAFETY: guaranteed by the caller; vectors have at most as many lanes.
        unsafe { RowEnd { mask: V::mask(0..lanes), fill: V::load(fill.as_ptr()) } }
    }
}

/// The place of a row of the result.
struct ResultRow<'a, M> {
    /// Its first element.
    first: usize,
    /// Number of elements from there to the end of the part.
    left: usize,
    /// The factor of the row, and those of the columns.
    factors: Option<(f32, &'a [f32])>,
    /// The lanes of its first vector.
    mask: M,
}

impl PlanePool {
    /// Reduces rows of a plane to one row, behind its padding; lanes behind it are neutral.
    ///
    /// # Safety
    /// The machine has the vectors, the plane has the rows, and `to` has three vectors behind the padded row.
    #[inline(always)]
    unsafe fn join_rows<V: Partial, R: Reduce>(&self, x: &[f32], starts: &[usize], end: &RowEnd<V>, to: &mut [f32]) {
        let (from, to) = (x.as_ptr(), to.as_mut_ptr().wrapping_add(self.padding));
        let whole = self.width - self.width % V::LANES;
        // SAFETY: guaranteed by the caller.
        unsafe {
            let nothing = V::splat(R::START);
            for at in (0..whole).step_by(V::LANES) {
                let mut all = nothing;
                for start in starts {
                    all = R::step(all, V::load(from.add(start + at)), nothing);
                }
                all.store(to.add(at));
            }
            if whole < self.width {
                let mut all = nothing;
                for start in starts {
                    all = R::step(all, V::load_some(from.add(start + whole), end.mask).plus(end.fill), nothing);
                }
                all.store(to.add(whole));
            }
        }
    }

    /// Reduces windows `S` columns apart, 1 or 2, along a row.
    ///
    /// # Safety
    /// The machine has the vectors, `row` has four vectors behind the padded row, and the caller has exclusive access to the result from
    /// this row to the end of the part.
    #[inline(always)]
    unsafe fn join_columns<V: Partial, R: Reduce, const S: usize>(
        &self,
        row: &[f32],
        place: &ResultRow<'_, V::Mask>,
        out: &DisjointWriter<f32>,
    ) {
        let row = row.as_ptr();
        for at in (0..self.outputs).step_by(V::LANES) {
            let at = at.min(self.outputs.saturating_sub(V::LANES));
            // SAFETY: the last vector ends less than four vectors behind the last tap.
            unsafe {
                let nothing = V::splat(R::START);
                let (mut all, mut tap) = (nothing, 0);
                while tap < self.taps {
                    let from = row.add(S * at + tap * self.dilation);
                    if S == 1 {
                        all = R::step(all, V::load(from), nothing);
                        tap += 1;
                        continue;
                    }
                    let [even, odd] = V::deinterleave(V::load(from), V::load(from.add(V::LANES)));
                    all = R::step(all, even, nothing);
                    tap += 1;
                    if self.dilation == 1 && tap < self.taps {
                        all = R::step(all, odd, nothing);
                        tap += 1;
                    }
                }
                if let Some((of_row, columns)) = place.factors {
                    let zero = V::splat(-0.0);
                    let factor = V::load(columns.as_ptr().add(at)).multiply_add(V::splat(of_row), zero);
                    all = all.multiply_add(factor, zero);
                }
                let to = out.at(place.first + at);
                // Lanes behind a short row are those of the next rows, which follow.
                if at + V::LANES <= place.left {
                    all.store(to);
                } else {
                    all.store_some(to, place.mask);
                }
            }
        }
    }

    /// Reduces the windows at all columns of a row, and stores those of the result.
    ///
    /// # Safety
    /// As for [`join_columns`](PlanePool::join_columns); `all` has the length of `row`.
    #[inline(always)]
    unsafe fn pick_columns<V: Partial, R: Reduce>(
        &self,
        row: &[f32],
        all: &mut [f32],
        place: &ResultRow<'_, V::Mask>,
        out: &DisjointWriter<f32>,
    ) {
        for at in (0..(self.outputs - 1) * self.stride + 1).step_by(V::LANES) {
            // SAFETY: as in `join_columns`.
            unsafe {
                let nothing = V::splat(R::START);
                let mut sum = nothing;
                for tap in 0..self.taps {
                    sum = R::step(sum, V::load(row.as_ptr().add(at + tap * self.dilation)), nothing);
                }
                sum.store(all.as_mut_ptr().add(at));
            }
        }
        for (at, &x) in all.iter().step_by(self.stride).take(self.outputs).enumerate() {
            let factor = place.factors.map_or(1.0, |(of_row, columns)| of_row * columns[at]);
            // SAFETY: the caller has exclusive access to the row.
            unsafe { out.at(place.first + at).write(x * factor) };
        }
    }
}
