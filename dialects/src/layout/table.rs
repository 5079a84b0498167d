//! Address tables: where an access finds its elements, computed ahead of time.
//!
//! Where addresses are a base for each point of the output and an offset for each summand, these are two lists, and the
//! offsets are those of all layers of the same geometry. Where they are not, there is a base for each point and each run of
//! summands that lie side by side.

use super::access::{Access, Loop, MAX_ENTRIES, along};
use super::additive::{Reach, adds};
use super::error::LayoutError;
use super::placed::Layout;
use smallvec::SmallVec;

/// In an indirection table: a run that is padding, to be read from a page of zeros.
pub const ZERO_PAGE: i32 = -1;

/// The element for point m and summand k is at `base[m] + relative[k]`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Tables {
    /// An offset in elements for each point of the output.
    pub base: Vec<i32>,
    /// An offset in elements for each summand.
    pub relative: Vec<i32>,
    /// So many summands at a time lie side by side: every such one of `relative` says where.
    pub run: u64,
}

/// A base for each point and each run of summands.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Indirection {
    /// For each point the offsets of its runs, in elements, or [`ZERO_PAGE`].
    pub bases: Vec<i32>,
    /// How many runs a point has.
    pub runs: u64,
    /// How many summands lie side by side in each.
    pub run: u64,
}

impl Tables {
    /// The offset for point m and summand k.
    pub fn offset(&self, m: usize, k: usize) -> i32 {
        self.base[m] + self.relative[k]
    }

    /// The offsets as what is added to the one before.
    pub fn running(&self) -> Vec<i32> {
        running(&self.relative)
    }
}

impl Indirection {
    /// The offset for point m and summand k; `None` for padding.
    pub fn offset(&self, m: usize, k: usize) -> Option<i32> {
        let base = self.bases[m * self.runs as usize + k / self.run as usize];
        (base != ZERO_PAGE).then(|| base + (k % self.run as usize) as i32)
    }
}

/// Each offset less the one before.
pub fn running(relative: &[i32]) -> Vec<i32> {
    let before = std::iter::once(&0).chain(relative);
    relative.iter().zip(before).map(|(&r, &b)| r.wrapping_sub(b)).collect()
}

/// Each offset as the sum of those up to it: the other way.
pub fn absolute(running: &[i32]) -> Vec<i32> {
    let add = |sum: &mut i32, &d: &i32| {
        *sum = sum.wrapping_add(d);
        Some(*sum)
    };
    running.iter().scan(0, add).collect()
}

/// Where runs of offsets begin, each one more than the one before, and how long all are: the longest that divide them.
pub fn runs(offsets: &[i32]) -> (Vec<i32>, usize) {
    let ends = |run: &usize| {
        offsets.len().is_multiple_of(*run)
            && offsets.chunks(*run).all(|some| some.windows(2).all(|two| two[0].checked_add(1) == Some(two[1])))
    };
    let first = offsets.windows(2).take_while(|two| two[0].checked_add(1) == Some(two[1])).count() + 1;
    let run = (1..=first).rev().find(ends).unwrap_or(1);
    (offsets.iter().copied().step_by(run).collect(), run)
}

impl Access {
    /// That every address is a base that depends on the point alone plus an offset that depends on the summand alone.
    /// Everything is in the buffer, so padding must be too. Found from extents, steps and tiles: the work does not grow with
    /// the number of points. It is exact, except where a width is tiled more than once or by thousands: there addresses may
    /// be sums because what two tiles add happens to cancel, and that may be overlooked.
    ///
    /// # Errors
    /// Which axis breaks it, and the tile that is crossed.
    pub fn separable(&self, layout: &Layout) -> Result<(), LayoutError> {
        self.check_axes(layout)?;
        let is_empty = self.m.iter().chain(&self.k).any(|l| l.extent == 0);
        if is_empty {
            return Ok(());
        }
        let axes = || layout.axes().iter().enumerate();
        if let Some((_, axis)) = axes().find(|&(i, _)| self.leaves(layout, i)) {
            return Err(LayoutError::Outside { axis: axis.name });
        }
        for (i, axis) in axes() {
            adds(axis, &self.fixed(i), &along(&self.k, i, Reach::at(0)))?;
        }
        Ok(())
    }

    /// The two lists, in time and space of as many entries as they have.
    ///
    /// # Errors
    /// What [`separable`](Access::separable) says, and when the buffer or the lists are too large.
    pub fn tables(&self, layout: &Layout) -> Result<Tables, LayoutError> {
        self.separable(layout)?;
        let (m, k) = (self.outputs()?, self.depth()?);
        if layout.size() > i32::MAX as u64 {
            return Err(LayoutError::TooLarge);
        }
        if m == 0 || k == 0 {
            return Ok(Tables { base: vec![0; m as usize], relative: vec![0; k as usize], run: k.max(1) });
        }
        let [base, mut relative] =
            [(&self.m, m), (&self.k, k)].map(|(loops, count)| offsets(layout, &self.start, loops, count));
        let first = base[0];
        relative.iter_mut().for_each(|r| *r -= first);
        Ok(Tables { base, relative, run: self.run(layout)? })
    }

    /// A base for each point and each run of summands, for any layout. What is outside of the tensor is padding.
    ///
    /// # Errors
    /// When the axes are others, and when the buffer or the table are too large.
    pub fn indirection(&self, layout: &Layout) -> Result<Indirection, LayoutError> {
        let run = self.run(layout)?;
        let runs = self.depth()? / run;
        if layout.size() > i32::MAX as u64 || self.outputs()?.saturating_mul(runs) > MAX_ENTRIES {
            return Err(LayoutError::TooLarge);
        }
        let loops: SmallVec<[Loop; 8]> = self.m.iter().copied().chain(without_run(&self.k, run)).collect();
        let bases = offsets(layout, &self.start, &loops, self.outputs()? * runs);
        Ok(Indirection { bases, runs, run })
    }

    /// How many summands lie side by side, at every point and from every multiple of that many on: the innermost loops that
    /// are in the buffer what they are in the iteration, and a part of the next that divides it.
    ///
    /// # Errors
    /// When the axes are others, or there are too many points.
    pub fn run(&self, layout: &Layout) -> Result<u64, LayoutError> {
        self.check_axes(layout)?;
        if self.outputs()? == 0 || self.depth()? == 0 {
            return Ok(1);
        }
        let mut run = 1;
        for i in (0..self.k.len()).rev() {
            let part = self.part_of_run(layout, i, run);
            run *= part;
            if part < self.k[i].extent {
                break;
            }
        }
        Ok(run)
    }

    /// How many points of loop i of the summands go on where runs of the loops inside of it end.
    fn part_of_run(&self, layout: &Layout, i: usize, run: u64) -> u64 {
        let Loop { extent, axis: a, step } = self.k[i];
        if extent == 1 || step == 0 || self.leaves(layout, a) {
            return 1;
        }
        // The digit that a step moves, and how many elements there are to where it carries.
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
        let others: SmallVec<[Loop; 4]> = self.k.iter().enumerate().filter(|l| l.0 != i).map(|l| *l.1).collect();
        let others = along(&others, a, self.fixed(a));
        let fits = |part: u64| {
            let from = others.clone().and(extent / part, step * part).largest_remainder(tile);
            from.saturating_add((part - 1) * step) < tile
        };
        let most = extent.min((tile - 1) / step + 1);
        (1..=most).rev().find(|&part| extent % part == 0 && fits(part)).unwrap_or(1)
    }
}

/// Loops over the runs of a loop nest: what is inside of a run is gone.
fn without_run(loops: &[Loop], mut run: u64) -> SmallVec<[Loop; 4]> {
    let mut outer: SmallVec<[Loop; 4]> = loops.into();
    while run > 1 {
        let Some(last) = outer.pop() else { break };
        if run < last.extent {
            outer.push(Loop { extent: last.extent / run, step: last.step * run, ..last });
        }
        run /= last.extent.max(1);
    }
    outer
}

/// The offsets of the points of loops, in order, or [`ZERO_PAGE`] where they are outside. `count`: how many they are.
fn offsets(layout: &Layout, start: &[i64], loops: &[Loop], count: u64) -> Vec<i32> {
    let loops: SmallVec<[Loop; 8]> = loops.iter().copied().filter(|l| l.extent != 1).collect();
    let is_last = |i: usize| loops[i + 1..].iter().all(|l| l.axis != loops[i].axis);
    let levels = loops.iter().enumerate().map(|(i, &l)| (l, is_last(i))).collect();
    let mut list = List { layout, levels, at: start.into(), offsets: Vec::with_capacity(count as usize) };
    let mut still = (0..layout.axes().len()).filter(|&axis| loops.iter().all(|l| l.axis != axis));
    let first = still.try_fold(layout.start(), |sum, axis| list.with(Some(sum), axis, start[axis]));
    list.below(0, first);
    list.offsets
}

/// A walk over the points of loops.
struct List<'a> {
    layout: &'a Layout,
    /// The loops, and whether each is the last one along its axis.
    levels: SmallVec<[(Loop, bool); 8]>,
    at: SmallVec<[i64; 4]>,
    offsets: Vec<i32>,
}

impl List<'_> {
    /// What an axis adds at an index, if that is inside.
    fn with(&self, sum: Option<u64>, axis: usize, at: i64) -> Option<u64> {
        let (at, axis) = (u64::try_from(at).ok()?, &self.layout.axes()[axis]);
        if at < axis.size { Some(sum?.wrapping_add(axis.part(at))) } else { None }
    }

    /// All points of the loops from a level on. `sum`: of what axes add that no loop from there on moves.
    fn below(&mut self, level: usize, sum: Option<u64>) {
        let Some(&(Loop { extent, axis, step }, is_last)) = self.levels.get(level) else {
            return self.offsets.push(entry(sum));
        };
        if level + 1 == self.levels.len() {
            return self.innermost(Loop { extent, axis, step }, sum);
        }
        let start = self.at[axis];
        for _ in 0..extent {
            let sum = if is_last { self.with(sum, axis, self.at[axis]) } else { sum };
            self.below(level + 1, sum);
            self.at[axis] = self.at[axis].wrapping_add(step as i64);
        }
        self.at[axis] = start;
    }

    /// The points of the last loop, most of whose axes have the same distance everywhere.
    fn innermost(&mut self, Loop { extent, axis: of, step }: Loop, sum: Option<u64>) {
        let (axis, start) = (&self.layout.axes()[of], self.at[of]);
        let indices = (0..extent).map(|i| start.wrapping_add(i.wrapping_mul(step) as i64) as u64);
        let mut offsets = std::mem::take(&mut self.offsets);
        if let (Some(sum), Some(stride)) = (sum, axis.stride()) {
            let offset = |at: u64| sum.wrapping_add(at.wrapping_mul(stride)) as i32;
            offsets.extend(indices.map(|at| if at < axis.size { offset(at) } else { ZERO_PAGE }));
        } else {
            offsets.extend(indices.map(|at| entry(self.with(sum, of, at as i64))));
        }
        self.offsets = offsets;
    }
}

/// An offset as an entry of a table.
fn entry(offset: Option<u64>) -> i32 {
    offset.map_or(ZERO_PAGE, |offset| offset as i32)
}
