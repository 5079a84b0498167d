//! Pools of maxima: `max(a, b) = a + max(b - a, 0)` is a depthwise convolution with the weights -1 and 1, which is clamped, and a sum.
//!
//! Windows are separable: maxima of rows, then of columns. Along an axis a window of `k` elements is computed by doubling, of maxima of 2,
//! 4, ... neighbours and a last pair that overlaps, or from one element to the next with the stride of the window: the form with less work.
//! Bytes count from the least one, so that the differences need no other type, and the least byte is the padding.

use super::conv::NO_WINDOW;
use super::network::{FeatureId, FeatureSum, Layer, PartOf, Requantization, Role, Weights};
use super::read::{MAX_EXTENT, Reader, extents, is_signed};
use super::view::{COLUMNS, ChannelOrder, ROWS, View};
use crate::operands::window_of_image;
use gradus_ir::{Op, OpDecl, Refusal, Value};
use gradus_networks::graph::{MaxPoolOp, pool_window};

/// A window along an axis.
#[derive(Clone, Copy, Debug)]
struct AxisWindow {
    kernel: usize,
    stride: usize,
    dilation: usize,
    pad: usize,
    /// Number of windows.
    count: usize,
}

impl AxisWindow {
    /// Maxima of neighbours by doubling before the last one.
    fn doublings(&self) -> u32 {
        self.kernel.next_power_of_two().trailing_zeros().saturating_sub(1)
    }

    /// Elements that doubling and that going from one element to the next compute, of an axis of an extent.
    fn elements(&self, extent: usize) -> [usize; 2] {
        let pairs = self.doublings() as usize * extent + self.count;
        [pairs, (1 + 2 * self.kernel.saturating_sub(2)) * self.count]
    }

    /// The positions that a number of windows read, from the first to the last.
    fn reach(&self, count: usize) -> usize {
        (count - 1) * self.stride + (self.kernel - 1) * self.dilation + 1
    }

    /// Some of the windows on an axis of an extent, and the range that they read, on which they are.
    fn band(&self, first: usize, count: usize, extent: usize) -> (AxisWindow, std::ops::Range<usize>) {
        let count = count.min(self.count - first);
        let begin = (first * self.stride) as isize - self.pad as isize;
        let start = begin.max(0) as usize;
        let end = (begin + self.reach(count) as isize).clamp(start as isize + 1, extent as isize) as usize;
        (AxisWindow { pad: begin.min(0).unsigned_abs(), count, ..*self }, start..end)
    }

    /// The least of both.
    fn least(&self, extent: usize) -> usize {
        let [doubling, one_by_one] = self.elements(extent);
        doubling.min(one_by_one)
    }
}

/// A feature along an axis: index 0 is position `first`. All other positions have the least byte.
#[derive(Clone, Copy, Debug)]
struct Line {
    feature: FeatureId,
    axis: usize,
    first: isize,
}

/// Positions at a distance: the first, their distance and their number.
#[derive(Clone, Copy, Debug)]
struct Positions {
    first: isize,
    step: usize,
    count: usize,
}

impl Reader<'_> {
    /// A pool of maxima, also of all rows and columns.
    pub(super) fn max_pool(&mut self, op: Op) -> Result<(), Refusal> {
        let m = self.m;
        let (x, y) = (m.operands(op)[0], m.result(op, 0));
        (m.num_results(op) == 1).then_some(()).ok_or("indices of maxima")?;
        let view = self.ordered(x, ChannelOrder::ChannelsFirst)?;
        let (_, axes) = self.ordered_extents(y, ChannelOrder::ChannelsFirst)?;
        let windows = self.windows(op, x, y)?;
        let images = self.images(x)?;
        let [height, width, channels] = self.extents_of(&view);
        let rows = self.rows_of_band(view.feature, &windows[ROWS], images);
        let writers = match rows {
            Some(_) if images == 1 => self.take_writers(x, op),
            _ => None,
        };
        let mut results = Vec::new();
        for image in 0..images {
            let part = PartOf { row: image * (height / images), ..PartOf::all(view.feature) };
            let input = self.boxed(part, [height / images, width, channels]);
            let Some(rows) = rows else {
                results.push(self.pooled(op, input, windows));
                continue;
            };
            for first in (0..windows[ROWS].count).step_by(rows) {
                let (of_band, read) = windows[ROWS].band(first, rows, height / images);
                let band = match &writers {
                    Some(writers) => self.band(writers, view.feature, read),
                    None => {
                        let line = Line { feature: input, axis: ROWS, first: 0 };
                        let some = self.rows_or_columns(line, read.start, 1, read.len());
                        self.copied(op, some)
                    }
                };
                results.push(self.pooled(op, band, [of_band, windows[COLUMNS]]));
            }
        }
        let feature = self.joined_rows(&results, is_signed(m, y));
        self.views.insert(y, View { feature, axes });
        Ok(())
    }

    /// The rows of the result of a band, if an image is too large to be in SRAM beside the maxima of its rows.
    fn rows_of_band(&self, x: FeatureId, window: &AxisWindow, images: usize) -> Option<usize> {
        let (info, most) = (&self.out.net.features[x], self.setting.machine.sram_bytes as usize / 2);
        let fits = |rows: usize| 2 * window.reach(rows) * info.row() <= most;
        let height = info.height / images;
        let is_large = height * info.row() > most && window.count > 1;
        let all_read = (window.count - 1) * window.stride < height + window.pad;
        (is_large && all_read).then(|| (1..window.count).rev().find(|&rows| fits(rows)).unwrap_or(1))
    }

    /// The maxima of windows of a feature, as a feature that one layer writes.
    fn pooled(&mut self, op: Op, x: FeatureId, windows: [AxisWindow; 2]) -> FeatureId {
        let extents = [ROWS, COLUMNS].map(|axis| self.extent(x, axis));
        let cost = |first: usize, second: usize| {
            windows[first].least(extents[first]) * extents[second]
                + windows[second].least(extents[second]) * windows[first].count
        };
        let order = if cost(ROWS, COLUMNS) <= cost(COLUMNS, ROWS) { [ROWS, COLUMNS] } else { [COLUMNS, ROWS] };
        let result = order.into_iter().fold(x, |x, axis| self.maxima(op, x, axis, windows[axis]));
        if result == x { self.copied(op, x) } else { result }
    }

    /// The windows of a pool along rows and columns.
    fn windows(&self, op: Op, x: Value, y: Value) -> Result<[AxisWindow; 2], Refusal> {
        let m = self.m;
        let (from, to) = (extents(m, x)?, extents(m, y)?);
        // The rows of windows of one axis are images.
        let count = |axis: usize| if to.len() == 4 { to[2 + axis] } else { [to[0], to[2]][axis] };
        if MaxPoolOp::cast(m, op).is_none() {
            let all = |axis: usize| if from.len() == 4 { from[2 + axis] } else { [1, from[2]][axis] };
            let window =
                |axis: usize| AxisWindow { kernel: all(axis), stride: 1, dilation: 1, pad: 0, count: count(axis) };
            return Ok([ROWS, COLUMNS].map(window));
        }
        let window = pool_window(m, op).map_err(|_| NO_WINDOW)?;
        let [kernel, stride, dilation, pad] = window_of_image(&window, MAX_EXTENT)?;
        let of_axis = |i: usize| AxisWindow {
            kernel: kernel[i],
            stride: stride[i],
            dilation: dilation[i],
            pad: pad[i],
            count: count(i),
        };
        Ok([ROWS, COLUMNS].map(of_axis))
    }

    /// The extent of a feature along an axis.
    fn extent(&self, feature: FeatureId, axis: usize) -> usize {
        let info = &self.out.net.features[feature];
        [info.height, info.width][axis]
    }

    /// The maxima of the windows along an axis.
    fn maxima(&mut self, op: Op, x: FeatureId, axis: usize, window: AxisWindow) -> FeatureId {
        let AxisWindow { kernel, stride, dilation, pad, count } = window;
        let extent = self.extent(x, axis);
        let mut line = Line { feature: x, axis, first: 0 };
        let windows = Positions { first: -(pad as isize), step: stride, count };
        if kernel == 1 {
            let is_all = (stride, pad, count) == (1, 0, extent);
            return if is_all { x } else { self.taps(op, line, windows, None) };
        }
        let [doubling, one_by_one] = window.elements(extent);
        if one_by_one < doubling {
            let mut most = self.pair(op, line, windows, dilation);
            for tap in 2..kernel {
                let first = windows.first + (tap * dilation) as isize;
                most = self.max_with(op, line, Positions { first, ..windows }, most);
            }
            return most;
        }
        let mut span = 1;
        let end = windows.first + ((count - 1) * stride + (kernel - 1) * dilation) as isize;
        for _ in 0..window.doublings() {
            // Maxima of twice the elements, at all positions that the last pair reads, and that reach the feature.
            let reach = ((2 * span - 1) * dilation) as isize;
            let first = windows.first.max(-reach).min(extent as isize - 1);
            let last = (end - reach).min(extent as isize - 1).max(first);
            let positions = Positions { first, step: 1, count: (last - first) as usize + 1 };
            line = Line { feature: self.pair(op, line, positions, span * dilation), first, ..line };
            span *= 2;
        }
        self.pair(op, line, windows, (kernel - span) * dilation)
    }

    /// The larger ones of the elements at positions and of those at a distance after them.
    fn pair(&mut self, op: Op, line: Line, at: Positions, distance: usize) -> FeatureId {
        let later = Positions { first: at.first + distance as isize, ..at };
        let (other, weights) = match (self.elements_at(line, at), self.elements_at(line, later)) {
            (Some(other), _) => (other, [-1_i8, 1]),
            (None, Some(other)) => (other, [1, -1]),
            (None, None) => (self.taps(op, line, at, None), [-1, 1]),
        };
        self.taps(op, line, at, Some((distance, weights, other)))
    }

    /// The larger ones of elements and of those of another feature: what they exceed it by, and its sum with that.
    fn max_with(&mut self, op: Op, line: Line, at: Positions, other: FeatureId) -> FeatureId {
        let last = at.first + ((at.count - 1) * at.step) as isize;
        if last < line.first || at.first >= line.first + self.extent(line.feature, line.axis) as isize {
            return other;
        }
        let difference = self.taps(op, line, at, None);
        if let Some(layer) = self.out.net.layers.last_mut() {
            layer.sum = Some(sum_of(layer, other, -1));
        }
        let most =
            self.taps(op, Line { feature: difference, first: 0, ..line }, Positions { first: 0, step: 1, ..at }, None);
        if let Some(layer) = self.out.net.layers.last_mut() {
            layer.sum = Some(sum_of(layer, other, 1));
        }
        most
    }

    /// The elements at some positions as a part of the feature, if it has all of them.
    fn elements_at(&mut self, line: Line, at: Positions) -> Option<FeatureId> {
        let first = usize::try_from(at.first - line.first).ok()?;
        let is_inside = first + (at.count - 1) * at.step < self.extent(line.feature, line.axis);
        is_inside.then(|| self.rows_or_columns(line, first, at.step, at.count))
    }

    fn rows_or_columns(&mut self, line: Line, first: usize, step: usize, count: usize) -> FeatureId {
        let info = &self.out.net.features[line.feature];
        let mut part = PartOf::all(line.feature);
        let mut extents = [info.height, info.width, info.channels];
        *[&mut part.row, &mut part.column][line.axis] = first;
        (part.step[line.axis], extents[line.axis]) = (step, count);
        self.boxed(part, extents)
    }

    /// Adds a layer of one tap, or of two at a distance and with a summand.
    fn taps(&mut self, op: Op, line: Line, at: Positions, two: Option<(usize, [i8; 2], FeatureId)>) -> FeatureId {
        let (extent, first) = (self.extent(line.feature, line.axis), at.first - line.first);
        // Positions behind the end are padding: the input keeps an element.
        let begin = usize::try_from(first).unwrap_or(0).min(extent - 1);
        let input = self.rows_or_columns(line, begin, 1, extent - begin);
        let info = self.out.net.features[input].clone();
        let mut extents = [info.height, info.width, info.channels];
        extents[line.axis] = at.count;
        let output = self.feature(extents, info.signed, Role::Inner);
        self.out.net.features[output].tile = info.tile;
        let mut layer = copy_from_least(op, input, output, info.channels, info.signed);
        layer.stride[line.axis] = at.step;
        layer.pad[line.axis] = first.min(0).unsigned_abs();
        if let Some((distance, weights, other)) = two {
            layer.kernel[line.axis] = 2;
            layer.dilation[line.axis] = distance;
            layer.weights = Weights::Constant(weights.map(i8::cast_unsigned).repeat(info.channels));
            layer.sum = Some(sum_of(&layer, other, 1));
        }
        self.out.net.layers.push(layer);
        output
    }

    fn copied(&mut self, op: Op, x: FeatureId) -> FeatureId {
        let line = Line { feature: x, axis: ROWS, first: 0 };
        self.taps(op, line, Positions { first: 0, step: 1, count: self.extent(x, ROWS) }, None)
    }
}

/// A layer that copies a feature whose bytes count from the least one, which is the padding.
fn copy_from_least(op: Op, input: FeatureId, output: FeatureId, channels: usize, signed: bool) -> Layer {
    let least = if signed { -128 } else { 0 };
    Layer {
        zeros: [least, 0],
        zero: least,
        requantization: vec![Requantization { bias: 0, scale: 1, shift: 0 }],
        ..Layer::copy(vec![op], input, output, channels, signed)
    }
}

/// The sum of a layer's result and a multiple of a feature, whose bytes count from the least one.
fn sum_of(layer: &Layer, feature: FeatureId, factor: i32) -> FeatureSum {
    let zero = layer.zero;
    FeatureSum { feature, zeros: [zero; 2], scales: [1, factor], shift: 0, zero, signed: layer.signed }
}
