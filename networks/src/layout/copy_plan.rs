//! Layout conversion as a list of contiguous copies.

use super::concrete_layout::{Index, Layout, LoopLevel};
use super::error::LayoutError;
use super::separability::gcd;
use smallvec::SmallVec;

/// A run of elements that is contiguous in both layouts.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct CopyRun {
    /// Source offset of the first element.
    pub from: u64,
    /// Target offset of the first element.
    pub to: u64,
    /// Number of elements.
    pub len: u64,
}

/// A conversion between two layouts: a map from source offsets to target offsets.
///
/// Both tensors have the same number of elements, which correspond in row-major order, so shapes may differ as in a
/// reshape.
#[derive(Clone, Copy, Debug)]
pub struct Relayout<'a> {
    /// Source layout.
    pub(super) from: &'a Layout,
    /// Target layout.
    pub(super) to: &'a Layout,
}

impl<'a> Relayout<'a> {
    /// Creates the conversion between two layouts.
    ///
    /// # Errors
    /// [`LayoutError::Elements`] if the numbers of elements differ.
    pub fn new(from: &'a Layout, to: &'a Layout) -> Result<Relayout<'a>, LayoutError> {
        match (from.elements(), to.elements()) {
            (a, b) if a == b => Ok(Relayout { from, to }),
            (a, b) => Err(LayoutError::Elements { from: a, to: b }),
        }
    }

    /// Composes two conversions: `self`, then `next`.
    ///
    /// # Errors
    /// When the numbers of elements differ, or `next` does not start from this target layout.
    pub fn then(&self, next: Relayout<'a>) -> Result<Relayout<'a>, LayoutError> {
        if !self.to.has_same_offsets(next.from) {
            return Err(LayoutError::NotComposable);
        }
        Relayout::new(self.from, next.to)
    }

    /// Returns the conversion back.
    #[must_use]
    pub fn inverse(&self) -> Relayout<'a> {
        Relayout { from: self.to, to: self.from }
    }

    /// Returns the number of elements of the target buffer, padding included.
    pub fn target_size(&self) -> u64 {
        self.to.size()
    }

    /// Returns the target offset of the element at a source offset; `None` for padding.
    pub fn target(&self, offset: u64) -> Option<u64> {
        let index = self.from.index(offset)?;
        let mut moved: Index = smallvec::smallvec![0; self.to.axes().len()];
        self.map_index(self.from, &index, self.to, &mut moved);
        Some(self.to.offset(&moved))
    }

    /// Whether every element keeps its offset.
    pub fn is_identity(&self) -> bool {
        self.runs().all(|m| m.from == m.to)
    }

    /// Returns the maximal contiguous runs, in target order.
    pub fn runs(&self) -> CopyRuns<'a> {
        CopyRuns { parts: Chunks::new(*self), pending: None }
    }

    /// Maps an index of one tensor to the index of the same element in the other.
    fn map_index(&self, from: &Layout, index: &[u64], to: &Layout, moved: &mut [u64]) {
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

/// Iterator over the maximal runs of a conversion; see [`Relayout::runs`].
pub struct CopyRuns<'a> {
    parts: Chunks<'a>,
    pending: Option<CopyRun>,
}

impl Iterator for CopyRuns<'_> {
    type Item = CopyRun;

    fn next(&mut self) -> Option<CopyRun> {
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

/// Iterator over runs that are not yet merged: the points of the target loops, the innermost loop in chunks.
struct Chunks<'a> {
    relayout: Relayout<'a>,
    /// Target loops, outermost first.
    nest: SmallVec<[LoopLevel; 8]>,
    counts: SmallVec<[u64; 8]>,
    index: Index,
    /// Source axis of each target axis, if the shapes differ in unit dimensions only.
    axes: Option<SmallVec<[usize; 6]>>,
    offset: u64,
    chunk: u64,
    more: bool,
}

impl<'a> Chunks<'a> {
    fn new(relayout: Relayout<'a>) -> Chunks<'a> {
        let Relayout { from, to } = relayout;
        let axes = same_axes(from, to);
        let mut nest: SmallVec<[LoopLevel; 8]> = to.loop_nest().iter().filter(|l| l.extent != 1).copied().collect();
        let chunk = nest.last().map_or(1, |inner| chunk(inner, from, to, axes.as_deref()));
        if let Some(inner) = nest.last_mut() {
            inner.extent = inner.extent.div_ceil(chunk);
            (inner.step, inner.stride) = (inner.step * chunk, inner.stride * chunk);
        }
        let (counts, index) = (smallvec::smallvec![0; nest.len()], smallvec::smallvec![0; to.axes().len()]);
        let offset = to.offset(&index);
        Chunks { relayout, nest, counts, index, axes, offset, chunk, more: to.elements() > 0 }
    }

    /// Advances to the next element. An out-of-bounds index stays so until an outer loop resets it.
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
            None => self.relayout.map_index(to, &self.index, from, &mut index),
        }
        from.offset(&index)
    }
}

impl Iterator for Chunks<'_> {
    type Item = CopyRun;

    fn next(&mut self) -> Option<CopyRun> {
        if !self.more {
            return None;
        }
        let mut len = 1;
        if let Some(inner) = self.nest.last() {
            len = self.chunk.min(self.relayout.to.axes()[inner.axis].size - self.index[inner.axis]);
        }
        let part = CopyRun { from: self.source(), to: self.offset, len };
        self.advance();
        Some(part)
    }
}

/// Returns the axis of `from` for each axis of `to`, if the shapes differ in unit dimensions only; `usize::MAX` for
/// unit axes.
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

/// Returns the number of elements along the innermost target loop that are contiguous in both layouts.
fn chunk(inner: &LoopLevel, from: &Layout, to: &Layout, axes: Option<&[usize]>) -> u64 {
    let Some(source) = axes.and_then(|axes| from.axes().get(axes[inner.axis])) else { return 1 };
    let target = &to.axes()[inner.axis];
    if inner.step != 1 || source.digits[0].stride != 1 || target.digits[0].stride != 1 {
        return 1;
    }
    // The most significant digit is unbounded; 0 is the neutral element of gcd.
    let end = |digits: &[super::concrete_layout::Digit]| if digits.len() > 1 { digits[0].extent } else { 0 };
    let inner_end = if inner.is_top { 0 } else { inner.extent };
    match gcd(gcd(end(&source.digits), end(&target.digits)), inner_end) {
        0 => target.size.max(1),
        common => common,
    }
}
