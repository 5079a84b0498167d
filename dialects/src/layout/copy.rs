//! Moving the elements of a tensor from one layout to another, as a loop nest.
//!
//! A list of moves is as long as there are runs, which are single elements where the innermost axes differ. Where the tiles
//! of both layouts divide each other, the moves are a nest of a few loops with two strides each.

use super::error::LayoutError;
use super::moves::{Relayout, same_axes};
use super::placed::{Axis, Index};
use smallvec::SmallVec;

/// A loop that moves elements: an index of `axis` goes on by `step`, and both offsets go on with it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CopyLoop {
    /// Which axis of the tensor that is made.
    pub axis: usize,
    /// By how much the index goes on. Where the axis ends, so does the loop.
    pub step: u64,
    /// How often.
    pub extent: u64,
    /// By how many elements the offset goes on where they are.
    pub from: u64,
    /// By how many elements the offset goes on where they go.
    pub to: u64,
}

impl Relayout<'_> {
    /// The moves as loops, outermost first, in the order of where they go. `None` when the shapes differ in more than sizes
    /// of one, or tiles do not divide each other, such as 4 and 6.
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
                loops.push(CopyLoop { axis: i, step, extent, from: from.part(step), to: to.part(step) });
            }
        }
        loops.sort_by_key(|l| std::cmp::Reverse(l.to));
        Some(loops)
    }

    /// Copies the elements of `source`, of `size` bytes each, to `target`; what is padding there stays as it is.
    ///
    /// # Errors
    /// When the buffers are smaller than their layouts.
    pub fn copy(&self, source: &[u8], target: &mut [u8], size: usize) -> Result<(), LayoutError> {
        let needed = |elements: u64| usize::try_from(elements).ok().and_then(|n| n.checked_mul(size));
        let fits = |bytes: &[u8], elements| needed(elements).is_some_and(|n| n <= bytes.len());
        if !fits(source, self.from.size()) || !fits(target, self.to.size()) {
            return Err(LayoutError::TooLarge);
        }
        let Some(mut loops) = self.loops() else {
            for run in self.moves() {
                let [from, to, len] = [run.from, run.to, run.len].map(|n| n as usize * size);
                target[to..to + len].copy_from_slice(&source[from..from + len]);
            }
            return Ok(());
        };
        // Where no axis has two loops, their order is free: the one along the source goes beside the one along the target.
        let is_free = |l: &CopyLoop| loops.iter().filter(|other| other.axis == l.axis).count() == 1;
        if let Some(at) = loops.iter().position(|l| l.from == 1)
            && at + 2 < loops.len()
            && loops.iter().all(is_free)
        {
            let along = loops.remove(at);
            loops.insert(loops.len() - 1, along);
        }
        let sizes: Index = self.to.axes().iter().map(|a| a.size).collect();
        let mut index: Index = smallvec::smallvec![0; sizes.len()];
        let start = [self.from.start(), self.to.start()].map(|n| n as usize);
        let mut nest = Nested { sizes: &sizes, index: &mut index, source, target, size };
        if self.to.elements() > 0 {
            match size {
                1 => nest.run::<1>(&loops, start),
                2 => nest.run::<2>(&loops, start),
                4 => nest.run::<4>(&loops, start),
                8 => nest.run::<8>(&loops, start),
                _ => nest.run::<0>(&loops, start),
            }
        }
        Ok(())
    }
}

/// Where the digits of an axis end, but for the last.
fn bounds(axis: &Axis) -> impl Iterator<Item = u64> {
    let inner = &axis.digits[..axis.digits.len() - 1];
    inner.iter().scan(1, |tile, digit| {
        *tile *= digit.extent;
        Some(*tile)
    })
}

/// So many elements of a row are read at once where rows become columns.
const BLOCK: usize = 16;

/// A nest of loops while it runs.
struct Nested<'a> {
    sizes: &'a [u64],
    /// The index of each axis, of the loops that are running.
    index: &'a mut [u64],
    source: &'a [u8],
    target: &'a mut [u8],
    /// The bytes of an element.
    size: usize,
}

impl Nested<'_> {
    /// Runs loops from two offsets on. `SIZE` is the bytes of an element, or zero where they are none of the usual.
    fn run<const SIZE: usize>(&mut self, loops: &[CopyLoop], [mut from, mut to]: [usize; 2]) {
        let Some((outer, inner)) = loops.split_first() else { return self.elements::<SIZE>(from, to, 1, [1, 1]) };
        // Loops further in only add to an index, so that it is inside here and where it ends is known.
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

    /// Two loops, of which the outer one goes along the source: block by block, so that what was read of a row is used up, and
    /// rows that are written are still there when their next elements come.
    fn transposed<const SIZE: usize>(
        &mut self,
        [from, to]: [usize; 2],
        [outer, inner]: [usize; 2],
        outer_to: usize,
        [inner_from, inner_to]: [usize; 2],
    ) {
        let size = if SIZE == 0 { self.size } else { SIZE };
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
        for i in 0..count {
            let element = &self.source[(from + i * strides[0]) * size..][..size];
            self.target[(to + i * strides[1]) * size..][..size].copy_from_slice(element);
        }
    }
}
