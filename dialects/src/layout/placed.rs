//! A layout of given sizes: where each element is, and which element is where.

use super::additive::shifts;
use super::error::LayoutError;
use super::tiled::{Level, TiledLayout};
use gradus_ir::DYNAMIC;
use smallvec::SmallVec;

/// An index of each axis, in logical order. On the stack for the ranks that occur.
pub type Index = SmallVec<[u64; 6]>;

/// A part of an axis' index, as a digit of a number with mixed bases.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Digit {
    /// How many values it has. The most significant digit has as many as are needed.
    pub extent: u64,
    /// The distance of neighbouring values, in elements.
    pub stride: u64,
}

/// An axis of a tensor, and what its index adds to the offset.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Axis {
    /// Its letter.
    pub name: char,
    /// How many elements it has.
    pub size: u64,
    /// The digits of its index, least significant first; at least one. As few as possible: none is always zero, and
    /// none goes on where the one before ends.
    pub digits: SmallVec<[Digit; 2]>,
}

/// A loop over the elements of a layout: a digit of an axis.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Nest {
    /// Which axis, in logical order.
    pub axis: usize,
    /// By how much it moves the axis' index.
    pub step: u64,
    /// How often.
    pub extent: u64,
    /// By how much it moves the offset, in elements.
    pub stride: u64,
    /// Whether it is the axis' most significant digit.
    pub is_top: bool,
}

/// A layout of given sizes: a map from indices in logical order to offsets in elements, and back.
///
/// What an axis adds to the offset does not depend on the other axes; everything else here rests on that.
#[derive(Clone, PartialEq, Debug)]
pub struct Layout {
    axes: SmallVec<[Axis; 4]>,
    nest: SmallVec<[Nest; 8]>,
    start: u64,
    size: u64,
    block: u64,
    pad: f64,
}

impl TiledLayout {
    /// The layout of a tensor whose axes, in logical order, have these letters and sizes.
    ///
    /// # Errors
    /// When the letters are not those of the layout, or the elements with their padding are too many.
    pub fn of(&self, axes: &str, sizes: &[i64]) -> Result<Layout, LayoutError> {
        let names = self.names(axes, sizes.len())?;
        let sizes: Option<Index> = sizes.iter().map(|&n| u64::try_from(n).ok()).collect();
        let sizes = sizes.ok_or(LayoutError::Sizes)?;
        let (nest, size) = nest(self, &names, &sizes)?;
        let axis = |(i, &name): (usize, &char)| Axis { name, size: sizes[i], digits: digits(&nest, i, sizes[i]) };
        let axes = names.iter().enumerate().map(axis).collect();
        Ok(Layout { axes, nest, start: 0, size, block: self.block(), pad: self.pad() })
    }

    /// The extents of the levels, outermost first: the shape of a tensor whose elements are in this order. A size that is
    /// not known makes an extent that is not known.
    ///
    /// # Errors
    /// When the letters are not those of the layout, or an extent is too large.
    pub fn extents(&self, axes: &str, sizes: &[i64]) -> Result<SmallVec<[i64; 8]>, LayoutError> {
        let names = self.names(axes, sizes.len())?;
        let extent = |level: &Level| {
            let size = names.iter().position(|&n| n == level.axis).map_or(DYNAMIC, |i| sizes[i]);
            match (level.tile, u64::try_from(size)) {
                (Some(tile), _) => i64::try_from(tile).map_err(|_| LayoutError::TooLarge),
                (None, Ok(size)) => Ok(size.div_ceil(self.tile(level.axis)) as i64),
                (None, Err(_)) => Ok(DYNAMIC),
            }
        };
        self.levels().iter().map(extent).collect()
    }

    /// The letters of axes, which are those of this layout.
    fn names(&self, axes: &str, rank: usize) -> Result<SmallVec<[char; 4]>, LayoutError> {
        let names: SmallVec<[char; 4]> = axes.chars().collect();
        let has = |axis: char| self.levels().iter().any(|l| l.axis == axis);
        if let Some(&axis) = names.iter().find(|&&a| !has(a)) {
            return Err(LayoutError::Axis { axis, missing_in: "layout" });
        }
        if let Some(level) = self.levels().iter().find(|l| !names.contains(&l.axis)) {
            return Err(LayoutError::Axis { axis: level.axis, missing_in: "tensor" });
        }
        let is_twice = (1..names.len()).any(|i| names[..i].contains(&names[i]));
        if is_twice {
            return Err(LayoutError::Sizes);
        }
        if names.len() == rank { Ok(names) } else { Err(LayoutError::Rank { found: names.len(), rank }) }
    }
}

impl Axis {
    /// What an index of this axis adds to the offset. Means nothing for indices outside of it.
    #[inline]
    pub fn part(&self, mut index: u64) -> u64 {
        let (top, inner) = self.digits.split_last().expect("an axis has a digit");
        let mut sum = 0_u64;
        for digit in inner {
            sum = sum.wrapping_add((index % digit.extent).wrapping_mul(digit.stride));
            index /= digit.extent;
        }
        sum.wrapping_add(index.wrapping_mul(top.stride))
    }

    /// The distance of neighbouring elements if it is the same for all.
    pub fn stride(&self) -> Option<u64> {
        if let [digit] = self.digits[..] { Some(digit.stride) } else { None }
    }
}

impl Layout {
    /// The axes, in logical order.
    pub fn axes(&self) -> &[Axis] {
        &self.axes
    }

    /// The loops in the order of offsets, outermost first.
    pub fn nest(&self) -> &[Nest] {
        &self.nest
    }

    /// The offset of the first element: not zero in slices only.
    pub fn start(&self) -> u64 {
        self.start
    }

    /// What is in the padding, before it is rounded to the elements' type.
    pub fn pad(&self) -> f64 {
        self.pad
    }

    /// How many elements the tensor has.
    pub fn elements(&self) -> u64 {
        self.axes.iter().map(|a| a.size).product()
    }

    /// How many elements the buffer has, with padding. A slice is in the buffer of the whole.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// How many elements of the buffer are none of the tensor.
    pub fn padding(&self) -> u64 {
        self.size - self.elements()
    }

    /// How many elements the innermost tiles hold together; a buffer begins at a multiple of it.
    pub fn block(&self) -> u64 {
        self.block
    }

    /// The offset of the element at `index`, which must be inside.
    #[inline]
    pub fn offset(&self, index: &[u64]) -> u64 {
        self.axes.iter().zip(index).fold(self.start, |sum, (axis, &i)| sum.wrapping_add(axis.part(i)))
    }

    /// The index of the element at `offset`; `None` for padding and for what is outside.
    pub fn index(&self, offset: u64) -> Option<Index> {
        let mut index: Index = smallvec::smallvec![0; self.axes.len()];
        let mut rest = offset.checked_sub(self.start)?;
        for level in &self.nest {
            index[level.axis] = (rest / level.stride).checked_mul(level.step)?.checked_add(index[level.axis])?;
            rest %= level.stride;
        }
        let inside = self.axes.iter().zip(&index).all(|(axis, &i)| i < axis.size);
        (inside && self.offset(&index) == offset).then_some(index)
    }

    /// Whether both put each element at the same place; padding does not matter.
    pub fn same_places(&self, other: &Layout) -> bool {
        let sizes = |l: &Layout| l.axes.iter().map(|a| a.size).collect::<Index>();
        let digits = |(a, b): (&Axis, &Axis)| a.digits == b.digits || a.size < 2;
        sizes(self) == sizes(other)
            && (self.elements() == 0 || (self.start == other.start && self.axes.iter().zip(&other.axes).all(digits)))
    }

    /// The part of the tensor that begins at `starts` and has `sizes`, where it is.
    ///
    /// # Errors
    /// When it is not inside, or begins inside a tile and goes beyond it.
    pub fn slice(&self, starts: &[u64], sizes: &[u64]) -> Result<Layout, LayoutError> {
        let rank = self.axes.len();
        if let Some(found) = [starts.len(), sizes.len()].into_iter().find(|&n| n != rank) {
            return Err(LayoutError::Rank { found, rank });
        }
        let mut part = self.clone();
        for (i, (&start, &size)) in starts.iter().zip(sizes).enumerate() {
            let axis = &self.axes[i];
            if start.checked_add(size).is_none_or(|end| end > axis.size) {
                return Err(LayoutError::Outside { axis: axis.name });
            }
            shifts(axis, start, size)?;
            // Nothing is there if the size is zero; then the start may be one beyond the last.
            part.start += if size == 0 { 0 } else { axis.part(start) };
            part.axes[i].size = size;
            for level in part.nest.iter_mut().filter(|l| l.axis == i) {
                level.extent = level.extent.min(size.div_ceil(level.step));
            }
            part.axes[i].digits = digits(&part.nest, i, size);
        }
        Ok(part)
    }
}

/// The loops of a layout, outermost first, and how many elements they reach.
fn nest(layout: &TiledLayout, names: &[char], sizes: &[u64]) -> Result<(SmallVec<[Nest; 8]>, u64), LayoutError> {
    let mut steps: Index = smallvec::smallvec![1; names.len()];
    let mut nest: SmallVec<[Nest; 8]> = SmallVec::new();
    for level in layout.levels().iter().rev() {
        let axis = names.iter().position(|&n| n == level.axis).ok_or(LayoutError::Sizes)?;
        let tile = layout.tile(level.axis);
        let (step, extent) = match level.tile {
            Some(extent) => (steps[axis], extent),
            None => (tile, sizes[axis].div_ceil(tile)),
        };
        steps[axis] *= level.tile.unwrap_or(1);
        nest.push(Nest { axis, step, extent, stride: 0, is_top: level.tile.is_none() });
    }
    // Where there is no element, strides are still those of a layout that has some.
    let mut stride = 1_u64;
    for level in &mut nest {
        level.stride = stride;
        stride = stride.checked_mul(level.extent.max(1)).ok_or(LayoutError::TooLarge)?;
    }
    nest.reverse();
    let size = if sizes.contains(&0) { 0 } else { stride };
    if stride > i64::MAX as u64 { Err(LayoutError::TooLarge) } else { Ok((nest, size)) }
}

/// The digits of an axis, without those that are always zero and as few as possible.
fn digits(nest: &[Nest], axis: usize, size: u64) -> SmallVec<[Digit; 2]> {
    let mut levels: SmallVec<[Nest; 4]> = nest.iter().filter(|l| l.axis == axis && l.extent != 1).copied().collect();
    // Tiles of one element have the step of the next; they are gone by now.
    levels.sort_by_key(|l| l.step);
    let mut digits: SmallVec<[Digit; 2]> = SmallVec::new();
    for level in levels.iter().filter(|l| l.step < size) {
        match digits.last_mut() {
            Some(last) if last.stride.checked_mul(last.extent) == Some(level.stride) => {
                last.extent = last.extent.saturating_mul(level.extent);
            }
            _ => digits.push(Digit { extent: level.extent, stride: level.stride }),
        }
    }
    if digits.is_empty() {
        digits.push(Digit { extent: 1, stride: 1 });
    }
    // The most significant digit takes what it gets.
    if let Some(top) = digits.last_mut() {
        top.extent = u64::MAX;
    }
    digits
}
