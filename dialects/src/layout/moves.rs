//! From one layout to another: which elements move where.

use super::additive::gcd;
use super::error::LayoutError;
use super::placed::{Index, Layout, Nest};
use smallvec::SmallVec;

/// Elements that lie side by side before and after.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Move {
    /// The offset of the first before.
    pub from: u64,
    /// The offset of the first afterwards.
    pub to: u64,
    /// How many.
    pub len: u64,
}

/// The elements of a tensor going from one layout to another: a map from offsets to offsets.
///
/// The tensors have equally many elements; the first in row-major order becomes the first, and so on. So shapes may differ,
/// as in a reshape, and sizes of one come and go.
#[derive(Clone, Copy, Debug)]
pub struct Relayout<'a> {
    /// Where the elements are.
    pub(super) from: &'a Layout,
    /// Where they go.
    pub(super) to: &'a Layout,
}

impl<'a> Relayout<'a> {
    /// From one layout to another.
    ///
    /// # Errors
    /// When there are not equally many elements.
    pub fn new(from: &'a Layout, to: &'a Layout) -> Result<Relayout<'a>, LayoutError> {
        match (from.elements(), to.elements()) {
            (a, b) if a == b => Ok(Relayout { from, to }),
            (a, b) => Err(LayoutError::Elements { from: a, to: b }),
        }
    }

    /// This one, and then another from where it goes to.
    ///
    /// # Errors
    /// When there are not equally many elements, or the other does not begin where this one ends.
    pub fn then(&self, next: Relayout<'a>) -> Result<Relayout<'a>, LayoutError> {
        if !self.to.same_places(next.from) {
            return Err(LayoutError::Apart);
        }
        Relayout::new(self.from, next.to)
    }

    /// The way back.
    #[must_use]
    pub fn inverse(&self) -> Relayout<'a> {
        Relayout { from: self.to, to: self.from }
    }

    /// How many elements the buffer has where they go, with padding.
    pub fn target_size(&self) -> u64 {
        self.to.size()
    }

    /// Where the element at an offset goes; `None` for padding.
    pub fn target(&self, offset: u64) -> Option<u64> {
        let index = self.from.index(offset)?;
        let mut moved: Index = smallvec::smallvec![0; self.to.axes().len()];
        self.carry(self.from, &index, self.to, &mut moved);
        Some(self.to.offset(&moved))
    }

    /// Whether nothing moves.
    pub fn is_identity(&self) -> bool {
        self.moves().all(|m| m.from == m.to)
    }

    /// The moves in the order of where they go, as few as possible: none goes on where the one before ends.
    pub fn moves(&self) -> Moves<'a> {
        Moves { parts: Parts::new(*self), pending: None }
    }

    /// From the index of an element in one tensor to its index in the other.
    fn carry(&self, from: &Layout, index: &[u64], to: &Layout, moved: &mut [u64]) {
        let mut linear = 0_u64;
        for (axis, &i) in from.axes().iter().zip(index) {
            linear = linear * axis.size + i;
        }
        for (axis, i) in to.axes().iter().zip(moved).rev() {
            *i = linear % axis.size.max(1);
            linear /= axis.size.max(1);
        }
    }
}

/// Moves one after another; see [`Relayout::moves`].
pub struct Moves<'a> {
    parts: Parts<'a>,
    pending: Option<Move>,
}

impl Iterator for Moves<'_> {
    type Item = Move;

    fn next(&mut self) -> Option<Move> {
        let mut run = self.pending.take().or_else(|| self.parts.next())?;
        for part in self.parts.by_ref() {
            if part.from != run.from + run.len || part.to != run.to + run.len {
                self.pending = Some(part);
                break;
            }
            run.len += part.len;
        }
        Some(run)
    }
}

/// Parts of moves: the points of the loops of where they go, the innermost in chunks.
struct Parts<'a> {
    relayout: Relayout<'a>,
    /// The loops, outermost first. Their indices begin at zero.
    nest: SmallVec<[Nest; 8]>,
    counts: SmallVec<[u64; 8]>,
    index: Index,
    /// For each axis of where they go, the axis of where they are, if the sizes are the same but for ones.
    axes: Option<SmallVec<[usize; 6]>>,
    offset: u64,
    chunk: u64,
    more: bool,
}

impl<'a> Parts<'a> {
    fn new(relayout: Relayout<'a>) -> Parts<'a> {
        let Relayout { from, to } = relayout;
        let axes = same_axes(from, to);
        let mut nest: SmallVec<[Nest; 8]> = to.nest().iter().filter(|l| l.extent != 1).copied().collect();
        let chunk = nest.last().map_or(1, |inner| chunk(inner, from, to, axes.as_deref()));
        if let Some(inner) = nest.last_mut() {
            inner.extent = inner.extent.div_ceil(chunk);
            (inner.step, inner.stride) = (inner.step * chunk, inner.stride * chunk);
        }
        let (counts, index) = (smallvec::smallvec![0; nest.len()], smallvec::smallvec![0; to.axes().len()]);
        let offset = to.offset(&index);
        Parts { relayout, nest, counts, index, axes, offset, chunk, more: to.elements() > 0 }
    }

    /// Goes to the next point that is an element. Where an index is outside, it stays so until a loop further out moves it.
    fn advance(&mut self) {
        for (level, count) in self.nest.iter().zip(&mut self.counts).rev() {
            *count += 1;
            self.offset += level.stride;
            self.index[level.axis] += level.step;
            if *count < level.extent && self.index[level.axis] < self.relayout.to.axes()[level.axis].size {
                return;
            }
            self.offset -= *count * level.stride;
            self.index[level.axis] -= *count * level.step;
            *count = 0;
        }
        self.more = false;
    }

    fn source(&self) -> u64 {
        let Relayout { from, to } = self.relayout;
        let mut index: Index = smallvec::smallvec![0; from.axes().len()];
        match &self.axes {
            Some(axes) => {
                for (&axis, &i) in axes.iter().zip(&self.index).filter(|(axis, _)| **axis != usize::MAX) {
                    index[axis] = i;
                }
            }
            None => self.relayout.carry(to, &self.index, from, &mut index),
        }
        from.offset(&index)
    }
}

impl Iterator for Parts<'_> {
    type Item = Move;

    fn next(&mut self) -> Option<Move> {
        if !self.more {
            return None;
        }
        let mut len = 1;
        if let Some(inner) = self.nest.last() {
            len = self.chunk.min(self.relayout.to.axes()[inner.axis].size - self.index[inner.axis]);
        }
        let part = Move { from: self.source(), to: self.offset, len };
        self.advance();
        Some(part)
    }
}

/// For each axis of `to` that of `from`, when the sizes that are not one are the same; for sizes of one there is none.
pub(super) fn same_axes(from: &Layout, to: &Layout) -> Option<SmallVec<[usize; 6]>> {
    let mut others = from.axes().iter().enumerate().filter(|(_, a)| a.size != 1);
    let mut axes: SmallVec<[usize; 6]> = SmallVec::new();
    for axis in to.axes() {
        if axis.size == 1 {
            axes.push(usize::MAX);
            continue;
        }
        let (i, _) = others.next().filter(|(_, other)| other.size == axis.size)?;
        axes.push(i);
    }
    others.next().is_none().then_some(axes)
}

/// How many elements at a time lie side by side in both layouts along the innermost loop of one.
fn chunk(inner: &Nest, from: &Layout, to: &Layout, axes: Option<&[usize]>) -> u64 {
    let Some(source) = axes.and_then(|axes| from.axes().get(axes[inner.axis])) else { return 1 };
    let target = &to.axes()[inner.axis];
    if inner.step != 1 || source.digits[0].stride != 1 || target.digits[0].stride != 1 {
        return 1;
    }
    // The most significant digit has no end; zero stands for that.
    let end = |digits: &[super::placed::Digit]| if digits.len() > 1 { digits[0].extent } else { 0 };
    let inner_end = if inner.is_top { 0 } else { inner.extent };
    match gcd(gcd(end(&source.digits), end(&target.digits)), inner_end) {
        0 => target.size.max(1),
        common => common,
    }
}
