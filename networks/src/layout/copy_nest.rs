//! Layout conversion as a loop nest.
//!
//! A copy plan has one entry per contiguous run, which shrinks to one element where the innermost axes differ. If the
//! tiles of both layouts divide each other, the copy is a loop nest of a few levels, each with a source and a target
//! stride.

use super::concrete_layout::{Axis, Index};
use super::copy_plan::{Relayout, same_axes};
use super::error::LayoutError;
use smallvec::SmallVec;
use std::ops::Range;

/// A loop of a copy nest: each iteration advances the index of `axis` by `step`, and both offsets by their strides.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CopyLoop {
    /// Axis of the target tensor.
    pub axis: usize,
    /// Increment of the axis index. The loop also ends at the end of the axis.
    pub step: u64,
    /// Number of iterations.
    pub extent: u64,
    /// Source stride, in elements.
    pub from: u64,
    /// Target stride, in elements.
    pub to: u64,
}

impl Relayout<'_> {
    /// Returns the copy as a loop nest in target order, outermost first. `None` if the shapes differ in more than unit
    /// dimensions, or if tiles do not divide each other, such as 4 and 6.
    pub fn loops(&self) -> Option<SmallVec<[CopyLoop; 8]>> {
        let axes = same_axes(self.from, self.to)?;
        let mut loops: SmallVec<[CopyLoop; 8]> = SmallVec::new();
        for (i, to) in self.to.axes().iter().enumerate().filter(|(_, a)| a.size != 1) {
            let from = &self.from.axes()[axes[i]];
            let mut bounds: SmallVec<[u64; 8]> = bounds(from).chain(bounds(to)).chain([1]).collect();
            bounds.sort_unstable();
            bounds.dedup();
            if bounds.windows(2).any(|w| w[1] % w[0] != 0) {
                return None;
            }
            for (at, &step) in bounds.iter().enumerate() {
                let extent = bounds.get(at + 1).map_or(to.size.div_ceil(step), |next| next / step);
                loops.push(CopyLoop {
                    axis: i,
                    step,
                    extent,
                    from: from.contribution(step),
                    to: to.contribution(step),
                });
            }
        }
        loops.sort_by_key(|l| std::cmp::Reverse(l.to));
        Some(loops)
    }

    /// Copies the elements of `source`, of `size` bytes each, to `target`. Padding of `target` keeps its value.
    ///
    /// # Errors
    /// When a buffer is smaller than its layout.
    pub fn copy(&self, source: &[u8], target: &mut [u8], size: usize) -> Result<(), LayoutError> {
        if !fits(source, self.from.size(), size) || !fits(target, self.to.size(), size) {
            return Err(LayoutError::TooLarge);
        }
        if let Some(nest) = self.nest() {
            return nest.copy(source, target, size);
        }
        for run in self.runs() {
            let [from, to, len] = [run.from, run.to, run.len].map(|n| n as usize * size);
            target[to..to + len].copy_from_slice(&source[from..from + len]);
        }
        Ok(())
    }

    /// Returns the copy as an executable loop nest, under the conditions of [`loops`](Relayout::loops).
    pub fn nest(&self) -> Option<CopyNest> {
        let sizes = self.to.axes().iter().map(|a| a.size).collect();
        let nest = CopyNest::of(self.loops()?, sizes, [self.from.start(), self.to.start()]);
        // Partial tiles make the nest's own bounds overestimates.
        let needed = if nest.needed == [0, 0] { [0, 0] } else { [self.from.size(), self.to.size()] };
        Some(CopyNest { needed, ..nest })
    }
}

/// Whether `bytes` holds at least `elements` elements of `size` bytes.
fn fits(bytes: &[u8], elements: u64, size: usize) -> bool {
    usize::try_from(elements).ok().and_then(|n| n.checked_mul(size)).is_some_and(|n| n <= bytes.len())
}

/// A loop nest that copies elements between two strided buffers.
#[derive(Clone, Debug)]
pub struct CopyNest {
    loops: SmallVec<[CopyLoop; 8]>,
    /// Size of each axis.
    sizes: Index,
    /// Offsets of the first element in source and target.
    start: [u64; 2],
    /// Minimum number of elements of source and target.
    needed: [u64; 2],
}

impl CopyNest {
    /// Returns the nest over all indices below `extents` with source strides `strides[0]` and target strides
    /// `strides[1]`, from the offsets `start` on. Loops that are contiguous in both are merged.
    ///
    /// # Errors
    /// [`LayoutError::TooLarge`] if an offset overflows.
    pub fn strided(extents: &[u64], strides: [&[u64]; 2], start: [u64; 2]) -> Result<CopyNest, LayoutError> {
        let mut loops: SmallVec<[CopyLoop; 8]> = SmallVec::new();
        let mut sizes = Index::new();
        for ((&extent, &from), &to) in extents.iter().zip(strides[0]).zip(strides[1]).filter(|((d, _), _)| **d != 1) {
            let continues = |l: &CopyLoop| {
                [(l.from, from), (l.to, to)].iter().all(|&(outer, inner)| inner.checked_mul(extent) == Some(outer))
            };
            match loops.last_mut().filter(|l| continues(l)) {
                // Contiguous in source and target: merge the loops.
                Some(last) => {
                    let extent = last.extent.checked_mul(extent).ok_or(LayoutError::TooLarge)?;
                    *last = CopyLoop { extent, from, to, ..*last };
                    sizes[last.axis] = extent;
                }
                None => {
                    loops.push(CopyLoop { axis: sizes.len(), step: 1, extent, from, to });
                    sizes.push(extent);
                }
            }
        }
        let nest = CopyNest::of(loops, sizes, start);
        if nest.needed.contains(&u64::MAX) { Err(LayoutError::TooLarge) } else { Ok(nest) }
    }

    /// Creates a nest. If every axis has one loop, loops commute: the loop along the source becomes the second
    /// innermost.
    fn of(mut loops: SmallVec<[CopyLoop; 8]>, sizes: Index, start: [u64; 2]) -> CopyNest {
        let mut has_loop: SmallVec<[bool; 8]> = smallvec::smallvec![false; sizes.len()];
        let is_free = loops.iter().all(|l| !std::mem::replace(&mut has_loop[l.axis], true));
        if let Some(at) = loops.iter().position(|l| l.from == 1)
            && at + 2 < loops.len()
            && is_free
        {
            let along = loops.remove(at);
            loops.insert(loops.len() - 1, along);
        }
        let end = |start: u64, stride: fn(&CopyLoop) -> u64| {
            let last = |l: &CopyLoop| l.extent.saturating_sub(1).saturating_mul(stride(l));
            loops.iter().map(last).fold(start.saturating_add(1), u64::saturating_add)
        };
        let is_empty = sizes.contains(&0) || loops.iter().any(|l| l.extent == 0);
        let needed = if is_empty { [0, 0] } else { [end(start[0], |l| l.from), end(start[1], |l| l.to)] };
        CopyNest { loops, sizes, start, needed }
    }

    /// Returns the number of elements that are copied.
    pub fn elements(&self) -> u64 {
        self.sizes.iter().fold(1, |n, &d| n.saturating_mul(d))
    }

    /// Whether each loop is over a whole axis, from element to element.
    fn has_whole_loops(&self) -> bool {
        self.loops.iter().all(|l| l.step == 1 && l.extent == self.sizes[l.axis])
    }

    /// Returns `[batch, rows, columns]` if the nest transposes each matrix of a batch: `target[i][c][r] = source[i][r][c]`.
    pub fn transposition(&self) -> Option<[u64; 3]> {
        let is_plain = self.has_whole_loops();
        let mut loops = self.loops.clone();
        loops.retain(|l| l.extent != 1);
        loops.sort_by_key(|l| std::cmp::Reverse(l.to));
        let mut merged: SmallVec<[CopyLoop; 8]> = SmallVec::new();
        for inner in loops {
            match merged.last_mut() {
                Some(outer)
                    if [(outer.from, inner.from), (outer.to, inner.to)]
                        .iter()
                        .all(|&(a, b)| b.checked_mul(inner.extent) == Some(a)) =>
                {
                    *outer = CopyLoop { extent: outer.extent * inner.extent, ..inner };
                }
                _ => merged.push(inner),
            }
        }
        let (batch, columns, rows) = match merged[..] {
            [columns, rows] => (1, columns, rows),
            [batch, columns, rows] if batch.from == batch.to && batch.from == columns.extent * rows.extent => {
                (batch.extent, columns, rows)
            }
            _ => return None,
        };
        let is_it = rows.to == 1 && columns.to == rows.extent && columns.from == 1 && rows.from == columns.extent;
        (is_plain && is_it && self.start == [0, 0]).then_some([batch, rows.extent, columns.extent])
    }

    /// Divides the nest into at most `parts` nests, each with the range of target elements that it alone writes to, in
    /// ascending order. Target offsets of a part count from the start of its range.
    pub fn divide(&self, parts: u64) -> Vec<(Range<u64>, CopyNest)> {
        let Some(at) = self.divisible() else { return vec![(0..self.needed[1], self.clone())] };
        let CopyLoop { axis, extent, from, to, .. } = self.loops[at];
        let parts = parts.clamp(1, extent);
        let bound = |i: u64| (u128::from(extent) * u128::from(i) / u128::from(parts)) as u64;
        let part = |i: u64| {
            let (first, end) = (bound(i), bound(i + 1));
            let (mut loops, mut sizes) = (self.loops.clone(), self.sizes.clone());
            (loops[at].extent, sizes[axis]) = (end - first, end - first);
            let part = CopyNest::of(loops, sizes, [self.start[0] + first * from, 0]);
            let start = self.start[1] + first * to;
            (start..start + part.needed[1], part)
        };
        (0..parts).map(part).collect()
    }

    /// Returns the loop to divide: the one with the largest target stride, if its iterations write to disjoint ranges,
    /// one after the other. `None` if nothing is copied.
    fn divisible(&self) -> Option<usize> {
        let is_plain = self.has_whole_loops();
        let (at, outer) = self.loops.iter().enumerate().max_by_key(|(_, l)| l.to)?;
        let others = self.loops.iter().enumerate().filter(|&(i, _)| i != at);
        let of_one =
            others.map(|(_, l)| (l.extent.saturating_sub(1)).saturating_mul(l.to)).fold(0, u64::saturating_add);
        (is_plain && self.needed != [0, 0] && of_one < outer.to).then_some(at)
    }

    /// Returns the nest that copies short runs as elements, and their size, if elements of `size` bytes are copied in such runs.
    fn of_runs(&self, size: usize) -> Option<(CopyNest, usize)> {
        let (inner, loops) = self.loops.split_last().filter(|(inner, _)| inner.from == 1 && inner.to == 1)?;
        let run = usize::try_from(inner.extent).ok().filter(|&run| run > 1 && self.has_whole_loops())?;
        let bytes = run.checked_mul(size).filter(|bytes| RUNS.contains(bytes))?;
        let is_whole = |n: &u64| n.is_multiple_of(inner.extent);
        (loops.iter().all(|l| is_whole(&l.from) && is_whole(&l.to)) && self.start.iter().all(is_whole)).then_some(())?;
        let shorter = |l: &CopyLoop| CopyLoop { from: l.from / inner.extent, to: l.to / inner.extent, ..*l };
        let mut sizes = self.sizes.clone();
        sizes[inner.axis] = 1;
        Some((CopyNest::of(loops.iter().map(shorter).collect(), sizes, self.start.map(|n| n / inner.extent)), bytes))
    }

    /// Copies elements of `size` bytes.
    ///
    /// # Errors
    /// [`LayoutError::TooLarge`] if a buffer has too few elements.
    pub fn copy(&self, source: &[u8], target: &mut [u8], size: usize) -> Result<(), LayoutError> {
        if self.needed == [0, 0] {
            return Ok(());
        }
        if !(fits(source, self.needed[0], size) && fits(target, self.needed[1], size)) {
            return Err(LayoutError::TooLarge);
        }
        if let Some((nest, size)) = self.of_runs(size) {
            return nest.copy(source, target, size);
        }
        let mut index: Index = smallvec::smallvec![0; self.sizes.len()];
        let start = self.start.map(|n| n as usize);
        let mut nest = CopyExecutor { sizes: &self.sizes, index: &mut index, source, target, size };
        match size {
            1 => nest.run::<1>(&self.loops, start),
            2 => nest.run::<2>(&self.loops, start),
            4 => nest.run::<4>(&self.loops, start),
            8 => nest.run::<8>(&self.loops, start),
            12 => nest.run::<12>(&self.loops, start),
            16 => nest.run::<16>(&self.loops, start),
            24 => nest.run::<24>(&self.loops, start),
            32 => nest.run::<32>(&self.loops, start),
            _ => nest.run::<0>(&self.loops, start),
        }
        Ok(())
    }
}

/// Returns the products of the digits of an axis, except for the most significant one.
fn bounds(axis: &Axis) -> impl Iterator<Item = u64> {
    let inner = &axis.digits[..axis.digits.len() - 1];
    inner.iter().scan(1, |tile, digit| {
        *tile *= digit.extent;
        Some(*tile)
    })
}

/// Sizes of runs in bytes that are copied as one element.
const RUNS: [usize; 6] = [4, 8, 12, 16, 24, 32];
/// Elements per row that a transposition reads at a time.
const BLOCK: usize = 16;
/// Number of target rows up to which a transposition writes one after the other.
const FEW: usize = 4;

/// Interleaves `ROWS` rows of `count` elements, as in a channel shuffle. `apart`: row stride of the source.
fn interleaved<const SIZE: usize, const ROWS: usize>(
    source: &[[u8; SIZE]],
    target: &mut [[u8; SIZE]],
    count: usize,
    apart: usize,
) {
    let rows: [&[[u8; SIZE]]; ROWS] = std::array::from_fn(|i| &source[i * apart..][..count]);
    for (o, to) in target[..count * ROWS].as_chunks_mut::<ROWS>().0.iter_mut().enumerate() {
        *to = std::array::from_fn(|i| rows[i][o]);
    }
}

/// The state of a running copy nest.
struct CopyExecutor<'a> {
    sizes: &'a [u64],
    /// Current index of each axis, from the enclosing loops.
    index: &'a mut [u64],
    source: &'a [u8],
    target: &'a mut [u8],
    /// Bytes per element.
    size: usize,
}

impl CopyExecutor<'_> {
    /// Runs loops from a source and a target offset. `SIZE`: bytes per element, or 0 for other sizes.
    fn run<const SIZE: usize>(&mut self, loops: &[CopyLoop], [mut from, mut to]: [usize; 2]) {
        let Some((outer, inner)) = loops.split_first() else { return self.elements::<SIZE>(from, to, 1, [1, 1]) };
        // Inner loops only increase the index, so the index is in bounds here and the remaining extent is known.
        let left = (self.sizes[outer.axis] - self.index[outer.axis]).div_ceil(outer.step);
        let (count, strides) = (outer.extent.min(left), [outer.from as usize, outer.to as usize]);
        if inner.is_empty() {
            return self.elements::<SIZE>(from, to, count as usize, strides);
        }
        if let [inner] = inner
            && inner.axis != outer.axis
            && outer.from == 1
        {
            let left = (self.sizes[inner.axis] - self.index[inner.axis]).div_ceil(inner.step);
            let counts = [count, inner.extent.min(left)].map(|n| n as usize);
            return self.transposed::<SIZE>(
                [from, to],
                counts,
                outer.to as usize,
                [inner.from, inner.to].map(|n| n as usize),
            );
        }
        for _ in 0..count {
            self.run::<SIZE>(inner, [from, to]);
            self.index[outer.axis] += outer.step;
            (from, to) = (from + strides[0], to + strides[1]);
        }
        self.index[outer.axis] -= count * outer.step;
    }

    /// Runs two loops of which the outer one follows the source, blocked so that cache lines of the source rows are
    /// used up while those of the target rows stay in cache.
    fn transposed<const SIZE: usize>(
        &mut self,
        [from, to]: [usize; 2],
        [outer, inner]: [usize; 2],
        outer_to: usize,
        [inner_from, inner_to]: [usize; 2],
    ) {
        let size = if SIZE == 0 { self.size } else { SIZE };
        if SIZE > 0 && inner_to == 1 && outer_to == inner {
            let (source, target) =
                (self.source[from * SIZE..].as_chunks().0, self.target[to * SIZE..].as_chunks_mut().0);
            match inner {
                2 => return interleaved::<SIZE, 2>(source, target, outer, inner_from),
                3 => return interleaved::<SIZE, 3>(source, target, outer, inner_from),
                4 => return interleaved::<SIZE, 4>(source, target, outer, inner_from),
                8 => return interleaved::<SIZE, 8>(source, target, outer, inner_from),
                _ => {}
            }
        }
        if inner_to == 1 && outer <= FEW {
            let rows = (0..outer).map(|o| [from + o, to + o * outer_to]);
            return rows.for_each(|[from, to]| self.elements::<SIZE>(from, to, inner, [inner_from, 1]));
        }
        for first in (0..outer).step_by(BLOCK) {
            let count = BLOCK.min(outer - first);
            for i in 0..inner {
                let row = &self.source[(from + first + i * inner_from) * size..][..count * size];
                let start = to + first * outer_to + i * inner_to;
                for (o, element) in row.chunks_exact(size).enumerate() {
                    self.target[(start + o * outer_to) * size..][..size].copy_from_slice(element);
                }
            }
        }
    }

    fn elements<const SIZE: usize>(&mut self, from: usize, to: usize, count: usize, strides: [usize; 2]) {
        let size = if SIZE == 0 { self.size } else { SIZE };
        if strides == [1, 1] {
            let len = count * size;
            return self.target[to * size..][..len].copy_from_slice(&self.source[from * size..][..len]);
        }
        if SIZE > 0 && strides == [2, 1] && count > 0 {
            let source = &self.source[from * SIZE..].as_chunks::<SIZE>().0[..2 * count - 1];
            let target = &mut self.target[to * SIZE..].as_chunks_mut::<SIZE>().0[..count];
            let (pairs, last) = source.as_chunks::<2>();
            target.iter_mut().zip(pairs).for_each(|(to, pair)| *to = pair[0]);
            // The pair of the last element ends with it.
            target[count - 1] = last[0];
            return;
        }
        for i in 0..count {
            let element = &self.source[(from + i * strides[0]) * size..][..size];
            self.target[(to + i * strides[1]) * size..][..size].copy_from_slice(element);
        }
    }
}
