//! The network of a program: features and the layers that compute them, before any choice of splits and places.

use gradus_simulators::cluster::{Elem, Stage};
use std::ops::Range;

/// A feature by number.
pub type FeatureId = usize;

/// A layer by number.
pub type LayerId = usize;

/// A range of channels of another feature: channel `c` is its channel `first + step * c`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ChannelSlice {
    /// The feature of which it is a part.
    pub whole: FeatureId,
    /// First channel.
    pub first: u32,
    /// Distance of channels.
    pub step: u32,
}

/// The role of a feature.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Role {
    /// Operand `i` of the program.
    Operand(usize),
    /// Result `i` of the program, besides its readers.
    Result(usize),
    /// Neither.
    Inner,
}

/// A feature `[rows, cols, channels]`.
#[derive(Clone, PartialEq, Debug)]
pub struct FeatureInfo {
    /// Rows, columns and channels.
    pub extents: [u32; 3],
    /// Element type.
    pub elem: Elem,
    /// The feature of which it is a part.
    pub part_of: Option<ChannelSlice>,
    /// Where it comes from or goes to. Operands and results are `[channels, rows, cols]` in DDR and in the memories of clusters, unless
    /// `channels_last`.
    pub role: Role,
    /// Whether it is a matrix, whose rows are the columns of the feature.
    pub channels_last: bool,
}

impl FeatureInfo {
    /// Whether channels are the outermost dimension.
    pub fn is_planar(&self) -> bool {
        self.role != Role::Inner && !self.channels_last
    }
}

/// Constants of a stage, one element per output channel in each list.
pub type PerChannel = Vec<Vec<u8>>;

/// A stage, without the places of its operands.
#[derive(Clone, PartialEq, Debug)]
pub struct StageInfo {
    /// The stage. Its tiles and offsets are zero.
    pub stage: Stage,
    /// The feature that it reads.
    pub other: Option<FeatureId>,
    /// Its constants by channel: lists of `size` bytes per channel each.
    pub lists: PerChannel,
    /// Bytes per channel of a list; 0 if the one list is for all channels.
    pub size: usize,
}

impl StageInfo {
    /// A stage without operands.
    pub fn plain(stage: Stage) -> StageInfo {
        StageInfo { stage, other: None, lists: Vec::new(), size: 0 }
    }
}

/// The window of a convolution or pool.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct WindowInfo {
    /// Rows and columns.
    pub kernel: [u32; 2],
    /// Strides.
    pub stride: [u32; 2],
    /// Distances of taps.
    pub dilation: [u32; 2],
    /// Padding above and to the left.
    pub pad: [u32; 2],
}

/// A convolution with constant weights.
#[derive(Clone, PartialEq, Debug)]
pub struct ConvInfo {
    /// Window.
    pub window: WindowInfo,
    /// Input channels of a group.
    pub group_in: u32,
    /// Output channels of a group.
    pub group_out: u32,
    /// Weights `[K, KH, KW, group_in]`.
    pub weights: Vec<u8>,
    /// Type of the weights.
    pub weights_elem: Elem,
    /// Bias, four bytes per output channel.
    pub bias: Option<Vec<u8>>,
    /// Zero point of the input.
    pub zero: i32,
    /// Zero point of the weights.
    pub weights_zero: i32,
}

/// The function of a layer, before its stages.
#[derive(Clone, PartialEq, Debug)]
pub enum LayerKind {
    /// A convolution.
    Conv(ConvInfo),
    /// A pool.
    Pool {
        /// Window.
        window: WindowInfo,
        /// Whether it computes the largest element; else the mean.
        is_max: bool,
        /// Divisor of sums; 0 for the number of taps that are not padding.
        divisor: u32,
    },
    /// The identity.
    Map,
    /// Each row and column as many times as the factors say.
    Upsample {
        /// Factors of rows and columns.
        factors: [u32; 2],
    },
    /// A softmax across channels.
    Softmax,
    /// A local response normalization across channels.
    Lrn {
        /// Channels of a sum.
        size: u32,
        /// Factor, exponent and summand.
        numbers: [f32; 3],
    },
}

/// A layer: a function of a feature, and stages.
#[derive(Clone, PartialEq, Debug)]
pub struct Layer {
    /// Name of the source.
    pub name: String,
    /// The ops that it computes, by number among those of the program.
    pub sources: Vec<usize>,
    /// The feature that it reads.
    pub input: FeatureId,
    /// The feature that it writes.
    pub output: FeatureId,
    /// Function.
    pub kind: LayerKind,
    /// Stages before the store.
    pub stages: Vec<StageInfo>,
}

impl Layer {
    /// Returns the features that the layer reads: its input and the operands of its stages.
    pub fn reads(&self) -> impl Iterator<Item = FeatureId> + '_ {
        std::iter::once(self.input).chain(self.stages.iter().filter_map(|s| s.other))
    }

    /// The first of the ops that it computes.
    pub fn source(&self) -> usize {
        self.sources.first().copied().unwrap_or(0)
    }

    /// Whether channels can be divided.
    pub fn divides_channels(&self) -> bool {
        !matches!(self.kind, LayerKind::Softmax)
    }

    /// Bytes of constants of one output channel.
    pub fn channel_bytes(&self, channels: u32) -> usize {
        let conv = match &self.kind {
            LayerKind::Conv(conv) => (conv.weights.len() + conv.bias.as_ref().map_or(0, Vec::len)) / channels as usize,
            _ => 0,
        };
        conv + self.stages.iter().map(|s| s.size * s.lists.len()).sum::<usize>()
    }

    /// Whether the layer has constants.
    pub fn has_constants(&self) -> bool {
        matches!(self.kind, LayerKind::Conv(_)) || self.stages.iter().any(|s| !s.lists.is_empty())
    }
}

/// A network: features, and layers in order.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Network {
    /// Features.
    pub features: Vec<FeatureInfo>,
    /// Layers, each after those that write what it reads.
    pub layers: Vec<Layer>,
}

impl Network {
    /// Returns the feature that is no part of another, and the channels in it: the first and their distance.
    pub fn root(&self, id: FeatureId) -> ChannelSlice {
        let (mut part, mut info) = (ChannelSlice { whole: id, first: 0, step: 1 }, &self.features[id]);
        while let Some(outer) = info.part_of {
            part = ChannelSlice {
                whole: outer.whole,
                first: outer.first + outer.step * part.first,
                step: part.step * outer.step,
            };
            info = &self.features[outer.whole];
        }
        part
    }

    /// Returns the layers that write and read each feature that is no part of another, or parts of it.
    pub fn edges(&self) -> Edges {
        let none = || vec![Vec::new(); self.features.len()];
        let mut edges = Edges { writers: none(), readers: none() };
        for (l, layer) in self.layers.iter().enumerate() {
            edges.writers[self.root(layer.output).whole].push(l);
            layer.reads().for_each(|id| edges.readers[self.root(id).whole].push(l));
        }
        edges
    }

    /// Whether a feature, which is no part of another, has parts that are interleaved. They are complete only together, so that all of their
    /// layers have the same division.
    pub fn is_interleaved(&self, root: FeatureId) -> bool {
        (0..self.features.len()).map(|id| self.root(id)).any(|part| part.whole == root && part.step > 1)
    }

    /// Whether layers can be executed by tiles.
    pub fn can_tile(&self, layers: Range<LayerId>) -> bool {
        self.layers[layers].iter().all(|layer| !self.is_interleaved(self.root(layer.output).whole))
    }

    /// Whether a feature has parts.
    pub fn has_parts(&self, id: FeatureId) -> bool {
        self.features.iter().any(|f| f.part_of.is_some_and(|part| part.whole == id))
    }
}

/// The layers around features that are no parts of others, by feature.
#[derive(Clone, PartialEq, Debug)]
pub struct Edges {
    /// Layers that write a feature or a part of it, in order.
    pub writers: Vec<Vec<LayerId>>,
    /// Layers that read a feature or a part of it, in order.
    pub readers: Vec<Vec<LayerId>>,
}

/// Bytes of an element.
pub fn elem_bytes(elem: Elem) -> u32 {
    match elem {
        Elem::F32 => 4,
        Elem::F16 => 2,
        Elem::I8 | Elem::U8 => 1,
    }
}
