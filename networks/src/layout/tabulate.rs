//! Computation of the address tables of access functions.
//!
//! If every address is `base[m] + relative[k]` (separable addressing), a table has two lists, and layers of the same
//! geometry share `relative`. Otherwise it has one base per output point and contiguous run of reduction points.

use super::access_function::{AccessFunction, AccessLoop, MAX_ENTRIES, along};
use super::address_table::{AddressTable, ZERO_PAGE};
use super::concrete_layout::Layout;
use super::error::LayoutError;
use super::separability::{IndexSet, check_separable};
use smallvec::SmallVec;

/// The derivation of the addresses of a table. Both give the same table.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Derivation {
    /// Loops over the points add up contributions of the axes, each at its level.
    #[default]
    Loops,
    /// Each point number is divided into the coordinates of its loops. In the layout NCHW, output point m is (n, h, w) with
    /// the base `n * C * H * W + h * W + w`, and reduction point k is (c, s, r) with the offset `c * H * W + s * W + r`,
    /// where h and w are scaled by the strides, s and r by the dilations.
    Coordinates,
}

impl AccessFunction {
    /// Checks that every address is the sum of a base, which depends on the output point only, and an offset, which
    /// depends on the reduction point only. All indices must be inside the buffer, padding included.
    ///
    /// The time depends on extents, steps and tiles, not on the number of points. The result is exact, except where an
    /// axis has several tile sizes or tiles of thousands of elements: sums that are separable only because carries
    /// cancel may be rejected.
    ///
    /// # Errors
    /// [`LayoutError::NotSeparable`] with the axis and tile, or [`LayoutError::OutOfBounds`].
    pub fn check_separable(&self, layout: &Layout) -> Result<(), LayoutError> {
        self.check_axes(layout)?;
        let is_empty = self.m.iter().chain(&self.k).any(|l| l.extent == 0);
        if is_empty {
            return Ok(());
        }
        let axes = || layout.axes().iter().enumerate();
        if let Some((_, axis)) = axes().find(|&(i, _)| self.is_padded(layout, i)) {
            return Err(LayoutError::OutOfBounds { axis: axis.name });
        }
        for (i, axis) in axes() {
            check_separable(axis, &self.fixed(i), &along(&self.k, i, IndexSet::at(0)))?;
        }
        Ok(())
    }

    /// Computes a table of separable addresses in O(M + K).
    ///
    /// # Errors
    /// Those of [`check_separable`](AccessFunction::check_separable), and [`LayoutError::TooLarge`].
    pub fn separable_table(&self, layout: &Layout) -> Result<AddressTable<'static>, LayoutError> {
        self.separable_table_by(layout, Derivation::Loops)
    }

    /// Computes a table of separable addresses by a derivation of choice.
    ///
    /// # Errors
    /// Those of [`separable_table`](AccessFunction::separable_table).
    pub fn separable_table_by(
        &self,
        layout: &Layout,
        derivation: Derivation,
    ) -> Result<AddressTable<'static>, LayoutError> {
        self.check_separable(layout)?;
        let (m, k) = (self.num_outputs()?, self.depth()?);
        if layout.size() > i32::MAX as u64 {
            return Err(LayoutError::TooLarge);
        }
        if m == 0 || k == 0 {
            return Ok(AddressTable::separable(vec![0; m as usize], vec![0; k as usize]));
        }
        let [base, mut relative] =
            [(&self.m, m), (&self.k, k)].map(|(loops, count)| derivation.offsets(layout, &self.start, loops, count));
        let first = base[0];
        relative.iter_mut().for_each(|r| *r -= first);
        Ok(AddressTable::separable(base, relative))
    }

    /// Computes a table of indirect addresses, for any layout. Indices outside the tensor become padding.
    ///
    /// # Errors
    /// [`LayoutError::Rank`] or [`LayoutError::TooLarge`].
    pub fn indirect_table(&self, layout: &Layout) -> Result<AddressTable<'static>, LayoutError> {
        self.indirect_table_by(layout, Derivation::Loops)
    }

    /// Computes a table of indirect addresses by a derivation of choice.
    ///
    /// # Errors
    /// Those of [`indirect_table`](AccessFunction::indirect_table).
    pub fn indirect_table_by(
        &self,
        layout: &Layout,
        derivation: Derivation,
    ) -> Result<AddressTable<'static>, LayoutError> {
        let run = self.run(layout)?;
        let (rows, runs) = (self.num_outputs()?, self.depth()? / run);
        if layout.size() > i32::MAX as u64 || rows.saturating_mul(runs) > MAX_ENTRIES {
            return Err(LayoutError::TooLarge);
        }
        let loops: SmallVec<[AccessLoop; 8]> = self.m.iter().copied().chain(without_run(&self.k, run)).collect();
        let bases = derivation.offsets(layout, &self.start, &loops, rows * runs);
        AddressTable::indirect(bases, [rows as usize, runs as usize], run as usize).map_err(|_| LayoutError::TooLarge)
    }

    /// Returns the length of the contiguous runs of reduction points: the largest `run` such that, at every output
    /// point, the reduction points from each multiple of `run` on are neighbours in the buffer.
    ///
    /// # Errors
    /// [`LayoutError::Rank`] or [`LayoutError::TooLarge`].
    pub fn run(&self, layout: &Layout) -> Result<u64, LayoutError> {
        self.check_axes(layout)?;
        if self.num_outputs()? == 0 || self.depth()? == 0 {
            return Ok(1);
        }
        let mut run = 1;
        for i in (0..self.k.len()).rev() {
            let part = self.run_factor(layout, i, run);
            run *= part;
            if part < self.k[i].extent {
                break;
            }
        }
        Ok(run)
    }

    /// Returns the largest divisor of reduction loop `i`'s extent whose iterations extend the runs of the loops inside
    /// it.
    fn run_factor(&self, layout: &Layout, i: usize, run: u64) -> u64 {
        let AccessLoop { extent, axis: a, step } = self.k[i];
        if extent == 1 || step == 0 || self.is_padded(layout, a) {
            return 1;
        }
        // Find the digit that one step advances, and the tile at which it carries.
        let (top, inner) = layout.axes()[a].digits.split_last().expect("an axis has a digit");
        let (mut below, mut digit, mut tile) = (1, top, None);
        for next in inner {
            if step % (below * next.extent) != 0 {
                (digit, tile) = (next, Some(below * next.extent));
                break;
            }
            below *= next.extent;
        }
        if (step / below).checked_mul(digit.stride) != Some(run) {
            return 1;
        }
        let Some(tile) = tile else { return extent };
        let others: SmallVec<[AccessLoop; 4]> = self.k.iter().enumerate().filter(|l| l.0 != i).map(|l| *l.1).collect();
        let others = along(&others, a, self.fixed(a));
        let fits = |part: u64| {
            let from = others.clone().and(extent / part, step * part).largest_remainder(tile);
            from.saturating_add((part - 1) * step) < tile
        };
        let most = extent.min((tile - 1) / step + 1);
        (1..=most).rev().find(|&part| extent % part == 0 && fits(part)).unwrap_or(1)
    }
}

/// Divides the run out of the innermost loops.
fn without_run(loops: &[AccessLoop], mut run: u64) -> SmallVec<[AccessLoop; 4]> {
    let mut outer: SmallVec<[AccessLoop; 4]> = loops.into();
    while run > 1 {
        let Some(last) = outer.pop() else { break };
        if run < last.extent {
            outer.push(AccessLoop { extent: last.extent / run, step: last.step * run, ..last });
        }
        run /= last.extent.max(1);
    }
    outer
}

impl Derivation {
    /// Returns the `count` addresses of the points of `loops` in iteration order, or [`ZERO_PAGE`] outside the tensor.
    fn offsets(self, layout: &Layout, start: &[i64], loops: &[AccessLoop], count: u64) -> Vec<i32> {
        match self {
            Derivation::Loops => offsets(layout, start, loops, count),
            Derivation::Coordinates => (0..count).map(|point| address_of(layout, start, loops, point)).collect(),
        }
    }
}

/// Returns the address of a point of `loops`, given by its number in iteration order, or [`ZERO_PAGE`] outside the tensor.
fn address_of(layout: &Layout, start: &[i64], loops: &[AccessLoop], mut point: u64) -> i32 {
    let mut index: SmallVec<[i64; 6]> = start[..layout.axes().len()].into();
    for l in loops.iter().rev().filter(|l| l.extent != 1) {
        let coordinate = point % l.extent;
        point /= l.extent;
        index[l.axis] = index[l.axis].wrapping_add((coordinate * l.step) as i64);
    }
    let axes = layout.axes().iter().zip(&index);
    let at = axes.map(|(axis, &i)| u64::try_from(i).ok().filter(|&i| i < axis.size).map(|i| axis.contribution(i)));
    entry(at.sum::<Option<u64>>().map(|at| at + layout.start()))
}

/// Returns the `count` addresses of the points of `loops` in iteration order, or [`ZERO_PAGE`] outside the tensor.
fn offsets(layout: &Layout, start: &[i64], loops: &[AccessLoop], count: u64) -> Vec<i32> {
    if count == 0 {
        return Vec::new();
    }
    let loops: SmallVec<[AccessLoop; 8]> = loops.iter().copied().filter(|l| l.extent != 1).collect();
    let is_last = |i: usize| loops[i + 1..].iter().all(|l| l.axis != loops[i].axis);
    let levels = loops.iter().enumerate().map(|(i, l)| (l.extent as usize, l.axis, is_last(i))).collect();
    let axes = 0..layout.axes().len();
    let parts = axes.clone().map(|axis| AxisParts::of(layout, axis, start[axis], &loops)).collect();
    let at = smallvec::smallvec![0; axes.len()];
    let mut list = OffsetWriter { levels, parts, at, offsets: Vec::with_capacity(count as usize) };
    let mut still = axes.filter(|&axis| loops.iter().all(|l| l.axis != axis));
    let first = still.try_fold(layout.start(), |sum, axis| Some(sum.wrapping_add(list.parts[axis].0[0]?)));
    list.below(0, first);
    list.offsets
}

/// The contributions of an axis to the addresses, at each point of its own loops in iteration order; `None` outside the tensor.
struct AxisParts(Vec<Option<u64>>);

impl AxisParts {
    fn of(layout: &Layout, axis: usize, start: i64, loops: &[AccessLoop]) -> AxisParts {
        let mut indices = vec![start];
        for l in loops.iter().filter(|l| l.axis == axis) {
            let steps = || (0..l.extent).map(|i| i.wrapping_mul(l.step) as i64);
            indices = indices.iter().flat_map(|&at| steps().map(move |step| at.wrapping_add(step))).collect();
        }
        let axis = &layout.axes()[axis];
        let inside = |at: i64| u64::try_from(at).ok().filter(|&at| at < axis.size);
        AxisParts(indices.into_iter().map(|at| inside(at).map(|at| axis.contribution(at))).collect())
    }
}

/// A traversal of loops that appends one address per point.
struct OffsetWriter {
    /// The extent and axis of each loop, and whether it is the innermost one along its axis.
    levels: SmallVec<[(usize, usize, bool); 8]>,
    parts: SmallVec<[AxisParts; 4]>,
    /// For each axis, the number of the point of its loops.
    at: SmallVec<[usize; 4]>,
    offsets: Vec<i32>,
}

impl OffsetWriter {
    /// Visits all points of the loops from `level` on. `sum`: contributions of the axes that these loops do not
    /// advance.
    fn below(&mut self, level: usize, sum: Option<u64>) {
        let Some(&(extent, axis, is_last)) = self.levels.get(level) else {
            return self.offsets.push(entry(sum));
        };
        let before = self.at[axis];
        let points = before * extent..(before + 1) * extent;
        if level + 1 == self.levels.len() {
            let parts = &self.parts[axis].0[points];
            match sum {
                Some(sum) => {
                    let addresses = parts.iter().map(|part| part.map(|part| sum.wrapping_add(part)));
                    self.offsets.extend(addresses.map(entry));
                }
                None => self.offsets.resize(self.offsets.len() + extent, ZERO_PAGE),
            }
            return;
        }
        for point in points {
            self.at[axis] = point;
            let own = || Some(sum?.wrapping_add(self.parts[axis].0[point]?));
            let sum = if is_last { own() } else { sum };
            self.below(level + 1, sum);
        }
        self.at[axis] = before;
    }
}

/// Converts an address to a table entry.
fn entry(offset: Option<u64>) -> i32 {
    offset.map_or(ZERO_PAGE, |offset| offset as i32)
}
