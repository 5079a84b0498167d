//! Which elements the points of an iteration read: windows of convolutions and pools, rows of products.

use super::additive::Reach;
use super::error::LayoutError;
use super::placed::Layout;
use smallvec::SmallVec;

/// A table with more entries than this is refused.
pub const MAX_ENTRIES: u64 = 1 << 28;

/// A loop of an iteration, which moves along one axis of the tensor.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Loop {
    /// How many points it has.
    pub extent: u64,
    /// Which axis, in logical order.
    pub axis: usize,
    /// By how much each point moves the index. Zero for a loop that reads the same again.
    pub step: u64,
}

/// A window that slides along an axis.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Window {
    /// How many places it has: the size of the output.
    pub outputs: u64,
    /// How many elements it reads: the size of the filter.
    pub taps: u64,
    /// From place to place.
    pub stride: u64,
    /// From tap to tap.
    pub dilation: u64,
    /// The index that the first tap at the first place reads: 0 where the padding is in the buffer, else negative; positive
    /// in a buffer with more padding than is needed.
    pub start: i64,
}

/// The order of what is summed over: which loop is the slowest.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Order {
    /// Channel, row, column: (c, v, u).
    ChannelsFirst,
    /// Row, column, channel: (v, u, c).
    ChannelsLast,
}

/// What a product reads: for each point m of the output and each k that is summed over, the element whose index is the sum of
/// what the loops say.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Access {
    /// The index that the first point reads, for each axis. Negative indices, and those beyond the axis, are padding.
    pub start: SmallVec<[i64; 4]>,
    /// The loops over the output, outermost first.
    pub m: SmallVec<[Loop; 4]>,
    /// The loops that are summed over, outermost first.
    pub k: SmallVec<[Loop; 4]>,
}

impl Access {
    /// A convolution of a tensor with the axes batch, channel, and one for each window. Groups are the outermost loop of m:
    /// one product after another.
    pub fn conv(batch: u64, groups: u64, channels: u64, windows: &[Window], order: Order) -> Access {
        let (places, mut taps, start) = slide(windows);
        let channel = Loop { extent: channels, axis: 1, step: 1 };
        taps.insert(if order == Order::ChannelsFirst { 0 } else { taps.len() }, channel);
        let mut m: SmallVec<[Loop; 4]> = SmallVec::new();
        if groups > 1 {
            m.push(Loop { extent: groups, axis: 1, step: channels });
        }
        m.push(Loop { extent: batch, axis: 0, step: 1 });
        m.extend(places);
        Access { start, m, k: taps }
    }

    /// A pool or depthwise convolution, which treats each channel by itself: the channel is a loop over the output, after the
    /// batch or innermost.
    pub fn depthwise(batch: u64, channels: u64, windows: &[Window], order: Order) -> Access {
        let (places, taps, start) = slide(windows);
        let mut m: SmallVec<[Loop; 4]> = smallvec::smallvec![Loop { extent: batch, axis: 0, step: 1 }];
        m.extend(places);
        let channel = Loop { extent: channels, axis: 1, step: 1 };
        m.insert(if order == Order::ChannelsFirst { 1 } else { m.len() }, channel);
        Access { start, m, k: taps }
    }

    /// The left operand of a product of matrices: rows are axis 0, and axis 1 is summed over.
    pub fn rows(m: u64, k: u64) -> Access {
        let along = |extent, axis| smallvec::smallvec![Loop { extent, axis, step: 1 }];
        Access { start: smallvec::smallvec![0; 2], m: along(m, 0), k: along(k, 1) }
    }

    /// How many points the output has.
    ///
    /// # Errors
    /// When there are more than a table may have.
    pub fn outputs(&self) -> Result<u64, LayoutError> {
        points(&self.m)
    }

    /// How many products are summed over for each of them.
    ///
    /// # Errors
    /// When there are more than a table may have.
    pub fn depth(&self) -> Result<u64, LayoutError> {
        points(&self.k)
    }

    /// That the access fits the layout: its axes exist, and indices are numbers.
    pub(super) fn check_axes(&self, layout: &Layout) -> Result<(), LayoutError> {
        let rank = layout.axes().len();
        let found = self.m.iter().chain(&self.k).map(|l| l.axis + 1).fold(self.start.len(), usize::max);
        if found > rank || self.start.len() < rank {
            return Err(LayoutError::Rank { found, rank });
        }
        let far = |i: usize| self.along(i, Reach::at(self.start[i].unsigned_abs())).last();
        let known = (0..rank).all(|i| far(i).is_some_and(|last| last <= i64::MAX as u64));
        if known { Ok(()) } else { Err(LayoutError::TooLarge) }
    }

    /// Whether indices of an axis are outside of the tensor for some points.
    pub(super) fn leaves(&self, layout: &Layout, axis: usize) -> bool {
        let Ok(start) = u64::try_from(self.start[axis]) else { return true };
        self.along(axis, Reach::at(start)).last().is_none_or(|last| last >= layout.axes()[axis].size)
    }

    /// The indices of an axis that the loops over the output reach.
    pub(super) fn fixed(&self, axis: usize) -> Reach {
        along(&self.m, axis, Reach::at(u64::try_from(self.start[axis]).unwrap_or(0)))
    }

    fn along(&self, axis: usize, start: Reach) -> Reach {
        along(&self.k, axis, along(&self.m, axis, start))
    }
}

/// The loops along an axis, from `start` on.
pub(super) fn along(loops: &[Loop], axis: usize, start: Reach) -> Reach {
    loops.iter().filter(|l| l.axis == axis).fold(start, |reach, l| reach.and(l.extent, l.step))
}

type Loops = SmallVec<[Loop; 4]>;

/// The loops over places and over taps of windows along the axes after batch and channel, and where all axes start.
fn slide(windows: &[Window]) -> (Loops, Loops, SmallVec<[i64; 4]>) {
    let at = |i: usize, extent, step| Loop { extent, axis: 2 + i, step };
    let places = windows.iter().enumerate().map(|(i, w)| at(i, w.outputs, w.stride)).collect();
    let taps = windows.iter().enumerate().map(|(i, w)| at(i, w.taps, w.dilation)).collect();
    let start = [0, 0].into_iter().chain(windows.iter().map(|w| w.start)).collect();
    (places, taps, start)
}

fn points(loops: &[Loop]) -> Result<u64, LayoutError> {
    let product = loops.iter().try_fold(1_u64, |n, l| n.checked_mul(l.extent));
    product.filter(|&n| n <= MAX_ENTRIES).ok_or(LayoutError::TooLarge)
}
