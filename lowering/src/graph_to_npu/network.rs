//! The network of a program: features and the layers that compute them, before any choice of tiles and places.

use gradus_simulators::npu::Feature;

/// A feature by number.
pub type FeatureId = usize;

/// A feature `[H, W, C]` of bytes.
#[derive(Clone, PartialEq, Debug)]
pub struct FeatureInfo {
    /// Rows.
    pub height: usize,
    /// Columns.
    pub width: usize,
    /// Channels.
    pub channels: usize,
    /// Columns and channels of a block.
    pub tile: [usize; 2],
    /// Whether bytes are signed.
    pub signed: bool,
    /// The feature of which this one is a range of channels, and the first of them, a multiple of the block's.
    pub part_of: Option<(FeatureId, usize)>,
    /// Where it comes from or goes to.
    pub role: Role,
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

impl FeatureInfo {
    /// Bytes of a block.
    pub fn block(&self) -> usize {
        self.tile[0] * self.tile[1]
    }

    /// Bytes of a row: blocks of channels, each with all columns.
    pub fn row(&self) -> usize {
        self.width.div_ceil(self.tile[0]) * self.channels.div_ceil(self.tile[1]) * self.block()
    }

    /// Channels with the padding of the last block.
    pub fn padded_channels(&self) -> usize {
        self.channels.next_multiple_of(self.tile[1])
    }

    /// Bytes of all rows.
    pub fn bytes(&self) -> usize {
        self.height * self.row()
    }

    /// The placement of the rows from byte `base` on, of which a part begins at channel `channel`.
    pub fn placed(&self, base: usize, channel: usize) -> Feature {
        let chan = self.width.div_ceil(self.tile[0]) * self.block();
        Feature {
            base: (base + channel / self.tile[1] * chan) as u32,
            tile_w: self.tile[0] as u16,
            tile_c: self.tile[1] as u16,
            row: self.row() as u32,
            col: self.block() as u32,
            chan: chan as u32,
        }
    }
}

/// The weights of a layer.
#[derive(Clone, PartialEq, Debug)]
pub enum Weights {
    /// Constants `[K, KH, KW, D]`; of a depthwise convolution `[K, KH, KW]`.
    Constant(Vec<u8>),
    /// A feature of the layer's extents whose elements are the kernels of a depthwise convolution over `1 x 1 x H*W*C`.
    Elements(FeatureId),
    /// A feature `1 x 1 x C` whose channels are the kernels of a depthwise convolution.
    Channels(FeatureId),
}

/// The requantization of one kernel: `(acc + bias) * scale * 2^-shift`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Requantization {
    /// Summand.
    pub bias: i32,
    /// Factor.
    pub scale: i32,
    /// Binary places of the factor.
    pub shift: u32,
}

/// A sum with another feature after the requantization; fields as those of the instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Sum {
    /// The other feature.
    pub feature: FeatureId,
    /// Zero points of the requantized result and of the other feature.
    pub zeros: [i16; 2],
    /// Factors of both.
    pub scales: [i32; 2],
    /// Binary places of the factors.
    pub shift: u8,
    /// Zero point of the sum.
    pub zero: i16,
    /// Whether bytes of the sum are signed.
    pub signed: bool,
}

/// A convolution with everything up to the bytes of its result.
#[derive(Clone, PartialEq, Debug)]
pub struct Layer {
    /// Name of the source.
    pub name: String,
    /// The feature that it reads.
    pub input: FeatureId,
    /// The feature that it writes.
    pub output: FeatureId,
    /// Whether each kernel reads its own channel only.
    pub depthwise: bool,
    /// Weights.
    pub weights: Weights,
    /// Whether weights are signed.
    pub signed_weights: bool,
    /// Zero points of the input and of the weights.
    pub zeros: [i16; 2],
    /// Depth of a kernel: input channels, or 1 if depthwise.
    pub depth: usize,
    /// Number of kernels.
    pub kernels: usize,
    /// Rows and columns of a kernel.
    pub kernel: [usize; 2],
    /// Steps.
    pub stride: [usize; 2],
    /// Distances between taps.
    pub dilation: [usize; 2],
    /// Padding before the first row and column.
    pub pad: [usize; 2],
    /// Columns of the input that overlap: kernel columns are folded into the depth, and output columns are this many bytes
    /// apart. 0 otherwise.
    pub folded: usize,
    /// Requantization, one for each kernel or one for all.
    pub requantization: Vec<Requantization>,
    /// Zero point of the requantized result.
    pub zero: i16,
    /// Whether bytes of the requantized result are signed.
    pub signed: bool,
    /// The sum with another feature.
    pub sum: Option<Sum>,
    /// Tables of 256 bytes by the result's byte, two's complement: one for each kernel, one for all, or none.
    pub table: Vec<u8>,
}

impl Layer {
    /// A layer that copies a feature: a depthwise convolution of each element with the weight 1.
    pub fn copy(name: String, input: FeatureId, output: FeatureId, channels: usize, signed: bool) -> Layer {
        Layer {
            name,
            input,
            output,
            depthwise: true,
            weights: Weights::Constant(vec![1; channels]),
            signed_weights: true,
            zeros: [0, 0],
            depth: 1,
            kernels: channels,
            kernel: [1, 1],
            stride: [1, 1],
            dilation: [1, 1],
            pad: [0, 0],
            folded: 0,
            requantization: vec![Requantization { bias: 0, scale: 1, shift: 0 }],
            zero: 0,
            signed,
            sum: None,
            table: Vec::new(),
        }
    }

    /// The features that it reads: input, other operand of the sum, weights.
    pub fn reads(&self) -> impl Iterator<Item = FeatureId> + use<> {
        let weights = match self.weights {
            Weights::Constant(_) => None,
            Weights::Elements(id) | Weights::Channels(id) => Some(id),
        };
        [Some(self.input), self.sum.map(|sum| sum.feature), weights].into_iter().flatten()
    }

    /// Number of taps.
    pub fn taps(&self) -> usize {
        self.kernel[0] * self.kernel[1]
    }
}

/// The network of a program; layers follow their inputs.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Network {
    /// Features.
    pub features: Vec<FeatureInfo>,
    /// Layers in order.
    pub layers: Vec<Layer>,
}

impl Network {
    /// The feature with memory of its own that holds a feature, and its first channel there.
    pub fn root(&self, mut id: FeatureId) -> (FeatureId, usize) {
        let mut channel = 0;
        while let Some((whole, first)) = self.features[id].part_of {
            (id, channel) = (whole, channel + first);
        }
        (id, channel)
    }
}
