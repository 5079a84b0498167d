//! A layout of known sizes: a bijection between tensor indices and buffer offsets, except for padding.

use super::error::LayoutError;
use super::tiled::{Level, TiledLayout};
use gradus_ir::DYNAMIC;
use smallvec::SmallVec;

/// One index per axis, in logical order. Stored on the stack for common ranks.
pub type Index = SmallVec<[u64; 6]>;

/// A digit of an axis index in a mixed radix.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Digit {
    /// Number of values. The most significant digit is unbounded.
    pub extent: u64,
    /// Offset between neighbouring values, in elements.
    pub stride: u64,
}

/// A tensor axis and the contribution of its index to the offset.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Axis {
    /// The letter of the axis.
    pub name: char,
    /// Number of elements.
    pub size: u64,
    /// Digits of the index, least significant first. Never empty and minimal: constant digits are omitted, and digits
    /// that continue each other are merged.
    pub digits: SmallVec<[Digit; 2]>,
}

/// A loop over the elements of a layout, that is, one digit of an axis.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LoopLevel {
    /// Axis in logical order.
    pub axis: usize,
    /// Increment of the axis index per iteration.
    pub step: u64,
    /// Number of iterations.
    pub extent: u64,
    /// Increment of the offset per iteration, in elements.
    pub stride: u64,
    /// Whether the loop is the most significant digit of its axis.
    pub is_top: bool,
}

/// A layout of known sizes: a map from indices in logical order to offsets in elements, and back.
///
/// The offset is a sum with one term per axis, which all analyses here rely on.
#[derive(Clone, PartialEq, Debug)]
pub struct Layout {
    pub(super) axes: SmallVec<[Axis; 4]>,
    pub(super) nest: SmallVec<[LoopLevel; 8]>,
    pub(super) start: u64,
    size: u64,
    block: u64,
    pad: f64,
}

impl TiledLayout {
    /// Returns the layout of a tensor whose axes, in logical order, have these letters and sizes.
    ///
    /// # Errors
    /// When the letters differ from the layout's, or the padded buffer exceeds the address space.
    pub fn of(&self, axes: &str, sizes: &[i64]) -> Result<Layout, LayoutError> {
        let names = self.names(axes, sizes.len())?;
        let sizes: Option<Index> = sizes.iter().map(|&n| u64::try_from(n).ok()).collect();
        let sizes = sizes.ok_or(LayoutError::Sizes)?;
        let (nest, size) = nest(self, &names, &sizes)?;
        let axis = |(i, &name): (usize, &char)| Axis { name, size: sizes[i], digits: digits(&nest, i, sizes[i]) };
        let axes = names.iter().enumerate().map(axis).collect();
        Ok(Layout { axes, nest, start: 0, size, block: self.block(), pad: self.pad() })
    }

    /// Returns the extents of the levels, outermost first: the shape of the packed tensor. Dynamic sizes yield dynamic
    /// extents.
    ///
    /// # Errors
    /// When the letters differ from the layout's, or an extent overflows.
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

    /// Splits `axes` into letters and checks that they are the layout's dimensions.
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
    /// Returns the contribution of an index to the offset; meaningful for `index < size` only.
    #[inline]
    pub fn contribution(&self, mut index: u64) -> u64 {
        let (top, inner) = self.digits.split_last().expect("an axis has a digit");
        let mut sum = 0_u64;
        for digit in inner {
            sum = sum.wrapping_add((index % digit.extent).wrapping_mul(digit.stride));
            index /= digit.extent;
        }
        sum.wrapping_add(index.wrapping_mul(top.stride))
    }

    /// Returns the constant stride of the axis; `None` if it varies.
    pub fn stride(&self) -> Option<u64> {
        if let [digit] = self.digits[..] { Some(digit.stride) } else { None }
    }
}

impl Layout {
    /// Returns the axes in logical order.
    pub fn axes(&self) -> &[Axis] {
        &self.axes
    }

    /// Returns the loops in the order of offsets, outermost first.
    pub fn loop_nest(&self) -> &[LoopLevel] {
        &self.nest
    }

    /// Returns the offset of the first element; nonzero in slices only.
    pub fn start(&self) -> u64 {
        self.start
    }

    /// Returns the value of the padding, before rounding to the element type.
    pub fn pad(&self) -> f64 {
        self.pad
    }

    /// Returns the number of elements of the tensor.
    pub fn elements(&self) -> u64 {
        self.axes.iter().map(|a| a.size).product()
    }

    /// Returns the number of elements of the buffer, padding included. A slice reports the buffer of the whole tensor.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Returns the number of padding elements of the buffer.
    pub fn padding(&self) -> u64 {
        self.size - self.elements()
    }

    /// Returns the number of elements of the innermost tiles; the alignment of the buffer in elements.
    pub fn block(&self) -> u64 {
        self.block
    }

    /// Returns the offset of the element at `index`, which must be in bounds.
    #[inline]
    pub fn offset(&self, index: &[u64]) -> u64 {
        self.axes.iter().zip(index).fold(self.start, |sum, (axis, &i)| sum.wrapping_add(axis.contribution(i)))
    }

    /// Returns the index of the element at `offset`; `None` for padding and out-of-bounds offsets.
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

    /// Whether both layouts map every index to the same offset. Padding is ignored.
    pub fn has_same_offsets(&self, other: &Layout) -> bool {
        let sizes = |l: &Layout| l.axes.iter().map(|a| a.size).collect::<Index>();
        let digits = |(a, b): (&Axis, &Axis)| a.digits == b.digits || a.size < 2;
        sizes(self) == sizes(other)
            && (self.elements() == 0 || (self.start == other.start && self.axes.iter().zip(&other.axes).all(digits)))
    }
}

/// Returns the loops of a layout, outermost first, and the number of elements of the buffer.
fn nest(layout: &TiledLayout, names: &[char], sizes: &[u64]) -> Result<(SmallVec<[LoopLevel; 8]>, u64), LayoutError> {
    let mut steps: Index = smallvec::smallvec![1; names.len()];
    let mut nest: SmallVec<[LoopLevel; 8]> = SmallVec::new();
    for level in layout.levels().iter().rev() {
        let axis = names.iter().position(|&n| n == level.axis).ok_or(LayoutError::Sizes)?;
        let tile = layout.tile(level.axis);
        let (step, extent) = match level.tile {
            Some(extent) => (steps[axis], extent),
            None => (tile, sizes[axis].div_ceil(tile)),
        };
        steps[axis] *= level.tile.unwrap_or(1);
        nest.push(LoopLevel { axis, step, extent, stride: 0, is_top: level.tile.is_none() });
    }
    // Empty tensors get the strides of non-empty ones.
    let mut stride = 1_u64;
    for level in &mut nest {
        level.stride = stride;
        stride = stride.checked_mul(level.extent.max(1)).ok_or(LayoutError::TooLarge)?;
    }
    nest.reverse();
    let size = if sizes.contains(&0) { 0 } else { stride };
    if stride > i64::MAX as u64 { Err(LayoutError::TooLarge) } else { Ok((nest, size)) }
}

/// Returns the minimal digits of an axis.
pub(super) fn digits(nest: &[LoopLevel], axis: usize, size: u64) -> SmallVec<[Digit; 2]> {
    let mut levels: SmallVec<[LoopLevel; 4]> =
        nest.iter().filter(|l| l.axis == axis && l.extent != 1).copied().collect();
    // Ties are impossible: levels of extent 1 have been filtered out.
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
    // The most significant digit is unbounded.
    if let Some(top) = digits.last_mut() {
        top.extent = u64::MAX;
    }
    digits
}
