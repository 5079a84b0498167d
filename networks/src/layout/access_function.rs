//! Access functions of convolutions, pools and matrix products: from iteration points to tensor indices.

use super::concrete_layout::Layout;
use super::error::LayoutError;
use super::separability::IndexSet;
use smallvec::SmallVec;

/// Maximum number of entries in an address table.
pub const MAX_ENTRIES: u64 = 1 << 28;

/// A loop of an access function: it advances the index of one tensor axis.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AccessLoop {
    /// Number of iterations.
    pub extent: u64,
    /// Tensor axis that the loop advances, in logical order.
    pub axis: usize,
    /// Increment of the index per iteration; 0 for a loop over which the operand is broadcast.
    pub step: u64,
}

/// A sliding window along one axis.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SlidingWindow {
    /// Number of window positions: the output size along the axis.
    pub outputs: u64,
    /// Number of taps: the filter size along the axis.
    pub taps: u64,
    /// Distance between neighbouring window positions.
    pub stride: u64,
    /// Distance between neighbouring taps.
    pub dilation: u64,
    /// Index of the first tap at the first position. 0 if the buffer contains the padding, negative if it does not,
    /// positive if the buffer contains more padding than the window needs.
    pub start: i64,
}

/// The order of the reduction loops of a convolution.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ReductionOrder {
    /// Channel, row, column.
    ChannelsFirst,
    /// Row, column, channel.
    ChannelsLast,
}

/// The access function of a product's left operand: a map from an output point m and a reduction point k to the index
/// `start + sum over loops of (iteration * step)`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AccessFunction {
    /// Index of the first point, per axis. Indices below 0 or beyond the axis denote padding.
    pub start: SmallVec<[i64; 4]>,
    /// Loops over the output points, outermost first.
    pub m: SmallVec<[AccessLoop; 4]>,
    /// Reduction loops, outermost first.
    pub k: SmallVec<[AccessLoop; 4]>,
}

impl AccessFunction {
    /// Returns the access function of a convolution over a tensor with the axes batch, channel and one spatial axis per
    /// window. Groups are the outermost output loop.
    pub fn conv(
        batch: u64,
        groups: u64,
        channels: u64,
        windows: &[SlidingWindow],
        order: ReductionOrder,
    ) -> AccessFunction {
        let (places, mut taps, start) = slide(windows);
        let channel = AccessLoop { extent: channels, axis: 1, step: 1 };
        taps.insert(if order == ReductionOrder::ChannelsFirst { 0 } else { taps.len() }, channel);
        let mut m: SmallVec<[AccessLoop; 4]> = SmallVec::new();
        if groups > 1 {
            m.push(AccessLoop { extent: groups, axis: 1, step: channels });
        }
        m.push(AccessLoop { extent: batch, axis: 0, step: 1 });
        m.extend(places);
        AccessFunction { start, m, k: taps }
    }

    /// Returns the access function of a pool or depthwise convolution. The channel is an output loop: after the batch
    /// for [`ReductionOrder::ChannelsFirst`], innermost otherwise.
    pub fn depthwise(batch: u64, channels: u64, windows: &[SlidingWindow], order: ReductionOrder) -> AccessFunction {
        let (places, taps, start) = slide(windows);
        let mut m: SmallVec<[AccessLoop; 4]> = smallvec::smallvec![AccessLoop { extent: batch, axis: 0, step: 1 }];
        m.extend(places);
        let channel = AccessLoop { extent: channels, axis: 1, step: 1 };
        m.insert(if order == ReductionOrder::ChannelsFirst { 1 } else { m.len() }, channel);
        AccessFunction { start, m, k: taps }
    }

    /// Returns the access function of the left operand of a matrix product, `[M, K]`.
    pub fn rows(m: u64, k: u64) -> AccessFunction {
        let along = |extent, axis| smallvec::smallvec![AccessLoop { extent, axis, step: 1 }];
        AccessFunction { start: smallvec::smallvec![0; 2], m: along(m, 0), k: along(k, 1) }
    }

    /// Returns the number of output points.
    ///
    /// # Errors
    /// [`LayoutError::TooLarge`] beyond [`MAX_ENTRIES`].
    pub fn num_outputs(&self) -> Result<u64, LayoutError> {
        points(&self.m)
    }

    /// Returns the number of reduction points per output point.
    ///
    /// # Errors
    /// [`LayoutError::TooLarge`] beyond [`MAX_ENTRIES`].
    pub fn depth(&self) -> Result<u64, LayoutError> {
        points(&self.k)
    }

    /// Checks that every loop's axis exists in the layout and that no index overflows.
    pub(super) fn check_axes(&self, layout: &Layout) -> Result<(), LayoutError> {
        let rank = layout.axes().len();
        let found = self.m.iter().chain(&self.k).map(|l| l.axis + 1).fold(self.start.len(), usize::max);
        if found > rank || self.start.len() < rank {
            return Err(LayoutError::Rank { found, rank });
        }
        let far = |i: usize| self.along(i, IndexSet::at(self.start[i].unsigned_abs())).last();
        let known = (0..rank).all(|i| far(i).is_some_and(|last| last <= i64::MAX as u64));
        if known { Ok(()) } else { Err(LayoutError::TooLarge) }
    }

    /// Whether some index along `axis` is outside the tensor, that is, in the padding.
    pub(super) fn is_padded(&self, layout: &Layout, axis: usize) -> bool {
        let Ok(start) = u64::try_from(self.start[axis]) else { return true };
        self.along(axis, IndexSet::at(start)).last().is_none_or(|last| last >= layout.axes()[axis].size)
    }

    /// Returns the indices along `axis` that the output loops produce.
    pub(super) fn fixed(&self, axis: usize) -> IndexSet {
        along(&self.m, axis, IndexSet::at(u64::try_from(self.start[axis]).unwrap_or(0)))
    }

    fn along(&self, axis: usize, start: IndexSet) -> IndexSet {
        along(&self.k, axis, along(&self.m, axis, start))
    }
}

/// Adds the loops along `axis` to `start`.
pub(super) fn along(loops: &[AccessLoop], axis: usize, start: IndexSet) -> IndexSet {
    loops.iter().filter(|l| l.axis == axis).fold(start, |reach, l| reach.and(l.extent, l.step))
}

type Loops = SmallVec<[AccessLoop; 4]>;

/// Returns the loops over window positions and taps of the spatial axes (axis 2 onwards), and the start index of all
/// axes.
fn slide(windows: &[SlidingWindow]) -> (Loops, Loops, SmallVec<[i64; 4]>) {
    let at = |i: usize, extent, step| AccessLoop { extent, axis: 2 + i, step };
    let places = windows.iter().enumerate().map(|(i, w)| at(i, w.outputs, w.stride)).collect();
    let taps = windows.iter().enumerate().map(|(i, w)| at(i, w.taps, w.dilation)).collect();
    let start = [0, 0].into_iter().chain(windows.iter().map(|w| w.start)).collect();
    (places, taps, start)
}

fn points(loops: &[AccessLoop]) -> Result<u64, LayoutError> {
    let product = loops.iter().try_fold(1_u64, |n, l| n.checked_mul(l.extent));
    product.filter(|&n| n <= MAX_ENTRIES).ok_or(LayoutError::TooLarge)
}
