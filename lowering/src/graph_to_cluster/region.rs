//! Boxes of a feature: `[rows, cols, channels]`.

use super::network::{ChannelSlice, ConvInfo, Edges, FeatureId, Layer, LayerId, LayerKind, Network, WindowInfo};
use std::ops::Range;

/// Largest number of parts into which a box is divided.
const FRAGMENTS: usize = 1 << 16;

/// A box: rows, columns and channels from `lo` to `hi`, exclusive. Empty if an extent is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Region {
    /// First row, column and channel.
    pub lo: [u32; 3],
    /// The ends.
    pub hi: [u32; 3],
}

impl Region {
    /// The box of a whole feature.
    pub fn whole(extents: [u32; 3]) -> Region {
        Region { lo: [0; 3], hi: extents }
    }

    /// Number of rows, columns and channels.
    pub fn extents(&self) -> [u32; 3] {
        std::array::from_fn(|i| self.hi[i].saturating_sub(self.lo[i]))
    }

    /// Number of elements.
    pub fn len(&self) -> u64 {
        self.extents().iter().map(|&n| u64::from(n)).product()
    }

    /// Whether there is no element.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether all elements of another box are in it.
    pub fn contains(&self, other: &Region) -> bool {
        other.is_empty() || (0..3).all(|i| self.lo[i] <= other.lo[i] && other.hi[i] <= self.hi[i])
    }

    /// Whether each element is in one of some boxes. A box that these divide into more than [`FRAGMENTS`] is not.
    pub fn is_within(&self, boxes: &[Region]) -> bool {
        self.is_covered(boxes, &mut FRAGMENTS.clone())
    }

    fn is_covered(&self, boxes: &[Region], left: &mut usize) -> bool {
        let Some((first, others)) = boxes.split_first().filter(|_| !self.is_empty()) else { return self.is_empty() };
        let common = self.intersection(first);
        if common.is_empty() {
            return self.is_covered(others, left);
        }
        *left = left.saturating_sub(1);
        if *left == 0 {
            return false;
        }
        // Along each axis, the elements before and after the common ones.
        let (mut rest, mut axes) = (*self, 0..3);
        axes.all(|i| {
            let [before, after] = [rest.with(i, rest.lo[i], common.lo[i]), rest.with(i, common.hi[i], rest.hi[i])];
            rest = rest.with(i, common.lo[i], common.hi[i]);
            before.is_covered(others, left) && after.is_covered(others, left)
        })
    }

    /// The common elements.
    pub fn intersection(&self, other: &Region) -> Region {
        Region {
            lo: std::array::from_fn(|i| self.lo[i].max(other.lo[i])),
            hi: std::array::from_fn(|i| self.hi[i].min(other.hi[i])),
        }
    }

    /// The least box with the elements of both.
    pub fn hull(&self, other: &Region) -> Region {
        match (self.is_empty(), other.is_empty()) {
            (true, _) => *other,
            (_, true) => *self,
            _ => Region {
                lo: std::array::from_fn(|i| self.lo[i].min(other.lo[i])),
                hi: std::array::from_fn(|i| self.hi[i].max(other.hi[i])),
            },
        }
    }

    /// The box with another range along an axis.
    pub fn with(mut self, axis: usize, lo: u32, hi: u32) -> Region {
        (self.lo[axis], self.hi[axis]) = (lo, hi);
        self
    }

    /// The box, of a part of a feature, in the feature that is no part: the hull of its channels.
    pub fn in_root(&self, part: ChannelSlice) -> Region {
        if self.is_empty() {
            return Region::default();
        }
        let at = |c: u32| part.first + part.step * c;
        self.with(2, at(self.lo[2]), at(self.hi[2] - 1) + 1)
    }
}

impl Network {
    /// The channels of a feature in the one that is no part: those from its first to its last.
    fn channels_in_root(&self, id: FeatureId) -> Range<u32> {
        let hull = Region::whole(self.features[id].extents).in_root(self.root(id));
        hull.lo[2]..hull.hi[2]
    }

    /// The layers before another that write channels of a feature that it reads.
    pub fn sources(&self, edges: &Edges, l: LayerId, id: FeatureId) -> impl Iterator<Item = LayerId> {
        let channels = self.channels_in_root(id);
        let writers = edges.writers[self.root(id).whole].iter().copied().filter(move |&writer| writer < l);
        writers.filter(move |&writer| {
            let written = self.channels_in_root(self.layers[writer].output);
            written.start < channels.end && channels.start < written.end
        })
    }

    /// For each layer, the last of those whose parts are interleaved with its own, and the channels of all these in the feature of which they
    /// are parts. The last layer completes all of them, since boxes of such parts have channels of the others.
    pub fn completions(&self, edges: &Edges) -> Vec<(LayerId, Range<u32>)> {
        let mut completions = vec![(0, 0..0); self.layers.len()];
        for writers in &edges.writers {
            let with_channels = |&l: &LayerId| (l, self.channels_in_root(self.layers[l].output));
            let mut all: Vec<(LayerId, Range<u32>)> = writers.iter().map(with_channels).collect();
            all.sort_by_key(|(_, channels)| channels.start);
            let mut groups: Vec<(Vec<LayerId>, Range<u32>)> = Vec::new();
            for (l, own) in all {
                match groups.last_mut().filter(|(_, channels)| own.start < channels.end) {
                    Some((layers, channels)) => {
                        layers.push(l);
                        channels.end = channels.end.max(own.end);
                    }
                    None => groups.push((vec![l], own)),
                }
            }
            for (layers, channels) in groups {
                let last = layers.iter().max().copied().unwrap_or(0);
                layers.into_iter().for_each(|l| completions[l] = (last, channels.clone()));
            }
        }
        completions
    }
}

/// Returns the rows or columns of an input that outputs `lo..hi` read, clipped to `extent`.
fn receptive(window: &WindowInfo, axis: usize, lo: u32, hi: u32, extent: u32) -> (u32, u32) {
    let (stride, pad) = (window.stride[axis], window.pad[axis]);
    let reach = (window.kernel[axis] - 1) * window.dilation[axis] + 1;
    let first = (lo * stride).saturating_sub(pad).min(extent);
    let end = ((hi - 1) * stride + reach).saturating_sub(pad).min(extent);
    (first, end.max(first))
}

/// Returns the channels that output channels `lo..hi` of a convolution read.
fn group_range(conv: &ConvInfo, lo: u32, hi: u32) -> (u32, u32) {
    (lo / conv.group_out * conv.group_in, ((hi - 1) / conv.group_out + 1) * conv.group_in)
}

impl Network {
    /// Returns the features that a layer reads, in the order of [`Layer::reads`], with the boxes that an output box needs of them.
    pub fn needs(&self, l: LayerId, output: &Region) -> impl Iterator<Item = (FeatureId, Region)> + '_ {
        let (layer, output) = (&self.layers[l], *output);
        layer.reads().enumerate().map(move |(i, id)| {
            let extents = self.features[id].extents;
            let is_input = i == 0;
            (id, if is_input { layer.input_region(&output, extents) } else { Layer::other_region(&output, extents) })
        })
    }
}

impl Layer {
    /// Returns the box of the input, of the given extents, that an output box needs.
    pub fn input_region(&self, output: &Region, extents: [u32; 3]) -> Region {
        if output.is_empty() {
            return Region::default();
        }
        let mut region = *output;
        if let LayerKind::Conv(ConvInfo { window, .. }) | LayerKind::Pool { window, .. } = &self.kind {
            for (axis, &extent) in extents.iter().enumerate().take(2) {
                let (lo, hi) = receptive(window, axis, output.lo[axis], output.hi[axis], extent);
                region = region.with(axis, lo, hi);
            }
        }
        if let LayerKind::Upsample { factors } = &self.kind {
            for (axis, factor) in factors.iter().enumerate() {
                region = region.with(axis, output.lo[axis] / factor, (output.hi[axis] - 1) / factor + 1);
            }
        }
        let (lo, hi) = (output.lo[2], output.hi[2]);
        let (lo, hi) = match &self.kind {
            LayerKind::Conv(conv) => group_range(conv, lo, hi),
            LayerKind::Softmax => (0, extents[2]),
            LayerKind::Lrn { size, .. } => (lo.saturating_sub(size / 2), (hi + size / 2).min(extents[2])),
            LayerKind::Pool { .. } | LayerKind::Map | LayerKind::Upsample { .. } => (lo, hi),
        };
        region.with(2, lo, hi)
    }

    /// Returns the box of a stage's operand, of the given extents, that an output box needs. Extents of 1 are broadcast.
    pub fn other_region(output: &Region, extents: [u32; 3]) -> Region {
        if output.is_empty() {
            return Region::default();
        }
        (0..3).fold(*output, |region, axis| if extents[axis] == 1 { region.with(axis, 0, 1) } else { region })
    }

    /// Number of products of an output box.
    pub fn products(&self, output: &Region) -> u64 {
        match &self.kind {
            LayerKind::Conv(conv) => {
                let taps = u64::from(conv.window.kernel[0]) * u64::from(conv.window.kernel[1]);
                output.len() * taps * u64::from(conv.group_in)
            }
            _ => 0,
        }
    }

    /// Whether the layer only copies its input.
    pub fn is_copy(&self) -> bool {
        matches!(self.kind, LayerKind::Map) && self.stages.is_empty()
    }

    /// Number of input channels of a group of a convolution; 0 of other layers.
    pub fn depth(&self) -> u32 {
        if let LayerKind::Conv(conv) = &self.kind { conv.group_in } else { 0 }
    }
}
