//! The network of a program: features and the layers that compute them, before any choice of tiles and places.

use super::weight_mode::WeightMode;
use gradus_ir::Op;
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
    /// Columns and channels of a block, the mode.
    pub tile: [usize; 2],
    /// The order of the blocks of a row.
    pub blocks: BlockOrder,
    /// The bytes from a row to the next in SRAM, modulo all banks: rows are padded so that positions of neighbouring rows are in different
    /// banks. `None` without padding. In DDR rows are always dense.
    pub row_padding: Option<RowPadding>,
    /// Whether bytes are signed.
    pub signed: bool,
    /// The feature of which this one is a box.
    pub part_of: Option<PartOf>,
    /// Where it comes from or goes to.
    pub role: Role,
}

/// A distance of rows in SRAM that spreads them over the banks: `residue` modulo `banks`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RowPadding {
    /// Remainder of the distance from a row to the next, in bytes.
    pub residue: usize,
    /// Bytes of a word of all banks.
    pub banks: usize,
}

/// The loops over the blocks of a row.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum BlockOrder {
    /// Columns are the inner loop, as in `HCW8c`.
    #[default]
    ColumnsInside,
    /// Channels are the inner loop, as in `HWC8c`.
    ChannelsInside,
}

/// A box of a feature: rows and columns at a distance, and a range of channels.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PartOf {
    /// The feature. Its blocks have one column, if the box does not have all columns.
    pub whole: FeatureId,
    /// The first row.
    pub row: usize,
    /// The first column.
    pub column: usize,
    /// The first channel, a multiple of the block's.
    pub channel: usize,
    /// The distances of its rows and columns.
    pub step: [usize; 2],
}

impl PartOf {
    /// All of a feature.
    pub fn all(whole: FeatureId) -> PartOf {
        PartOf { whole, row: 0, column: 0, channel: 0, step: [1, 1] }
    }

    /// The row of the feature that is a row of the box.
    pub fn row_of(&self, row: usize) -> usize {
        self.row + row * self.step[0]
    }

    /// The rows of the feature from the first to the last of some rows of the box.
    pub fn rows_of(&self, row: usize, rows: usize) -> std::ops::Range<usize> {
        self.row_of(row)..self.row_of(row + rows - 1) + 1
    }

    /// The placement of the box from row `row` and channel `channel` on, in a placement of the feature.
    pub fn placed(&self, whole: Feature, row: usize, channel: usize) -> Feature {
        let row = self.row_of(row) as u32 * whole.row;
        let column = self.column as u32 / u32::from(whole.tile_w) * whole.col;
        let channel = (self.channel + channel) as u32 / u32::from(whole.tile_c) * whole.chan;
        let [rows, columns] = self.step.map(|n| n as u32);
        Feature { base: whole.base + row + column + channel, row: rows * whole.row, col: columns * whole.col, ..whole }
    }
}

/// The role of a feature.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Role {
    /// Operand `i` of the program.
    Operand(usize),
    /// Result `i` of the program, besides its readers.
    Result(usize),
    /// Bytes of [`Network::constants`].
    Constant(usize),
    /// Neither.
    Inner,
}

impl FeatureInfo {
    /// Mode and order of blocks.
    pub fn layout(&self) -> ([usize; 2], BlockOrder) {
        (self.tile, self.blocks)
    }

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

    /// Bytes from a row to the next in SRAM.
    pub fn pitch(&self) -> usize {
        match self.row_padding {
            Some(RowPadding { residue, banks }) => self.row() + (residue + banks - self.row() % banks) % banks,
            None => self.row(),
        }
    }

    /// Bytes of all rows in SRAM.
    pub fn sram_bytes(&self) -> usize {
        self.height * self.pitch()
    }

    /// The placement in SRAM of the rows from byte `base` on, of which a part begins at channel `channel`.
    pub fn placed(&self, base: usize, channel: usize) -> Feature {
        Feature { row: self.pitch() as u32, ..self.dense(base, channel) }
    }

    /// The placement in DDR, likewise.
    pub fn dense(&self, base: usize, channel: usize) -> Feature {
        let (chan, col) = match self.blocks {
            BlockOrder::ColumnsInside => (self.width.div_ceil(self.tile[0]) * self.block(), self.block()),
            BlockOrder::ChannelsInside => (self.block(), self.channels.div_ceil(self.tile[1]) * self.block()),
        };
        Feature {
            base: (base + channel / self.tile[1] * chan) as u32,
            tile_w: self.tile[0] as u16,
            tile_c: self.tile[1] as u16,
            row: self.row() as u32,
            col: col as u32,
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
    /// A feature of one row: each column is a kernel, its channels are the depth.
    Columns(FeatureId),
    /// A feature of one row: each channel is a kernel, its columns are the depth.
    Transposed(FeatureId),
}

impl Weights {
    /// The feature that is the weights.
    pub fn feature(&self) -> Option<FeatureId> {
        match self {
            Weights::Constant(_) => None,
            Weights::Elements(id) | Weights::Channels(id) | Weights::Columns(id) | Weights::Transposed(id) => Some(*id),
        }
    }

    /// Whether a feature is the weights of a convolution over all of its depth.
    pub fn is_matrix(&self) -> bool {
        matches!(self, Weights::Columns(_) | Weights::Transposed(_))
    }
}

/// An operand of a product.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ProductSide {
    /// The first.
    Left,
    /// The second.
    Right,
}

impl ProductSide {
    /// Both, in order.
    pub const ALL: [ProductSide; 2] = [ProductSide::Left, ProductSide::Right];
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
pub struct FeatureSum {
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
    /// The ops that it computes.
    pub ops: Vec<Op>,
    /// The feature that it reads.
    pub input: FeatureId,
    /// The feature that it writes.
    pub output: FeatureId,
    /// Whether each kernel reads its own channel only.
    pub depthwise: bool,
    /// Weights.
    pub weights: Weights,
    /// The operand of the op that is the weights, where that is a choice.
    pub operand: Option<ProductSide>,
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
    pub sum: Option<FeatureSum>,
    /// Tables of 256 bytes by the result's byte, two's complement: one for each kernel, one for all, or none.
    pub table: Vec<u8>,
}

impl Layer {
    /// A layer that copies a feature: a depthwise convolution of each element with the weight 1.
    pub fn copy(ops: Vec<Op>, input: FeatureId, output: FeatureId, channels: usize, signed: bool) -> Layer {
        Layer {
            ops,
            input,
            output,
            depthwise: true,
            weights: Weights::Constant(vec![1; channels]),
            operand: None,
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
        [Some(self.input), self.sum.map(|sum| sum.feature), self.weights.feature()].into_iter().flatten()
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
    /// The bytes of constant features, `[H, W, C]`.
    pub constants: Vec<Vec<u8>>,
    /// Bytes of padding that folded operands would have in blocks of the array's depth.
    pub unfolded: usize,
    /// The mode of constant weights by force.
    pub weight_mode: Option<WeightMode>,
}

impl Network {
    /// The feature with memory of its own that holds a feature.
    pub fn root(&self, mut id: FeatureId) -> FeatureId {
        while let Some(part) = self.features[id].part_of {
            id = part.whole;
        }
        id
    }

    /// The box that a feature is of the one that has memory of its own.
    pub fn place(&self, id: FeatureId) -> PartOf {
        let Some(part) = self.features[id].part_of else { return PartOf::all(id) };
        let outer = self.place(part.whole);
        PartOf {
            whole: outer.whole,
            row: outer.row_of(part.row),
            column: outer.column + part.column * outer.step[1],
            channel: outer.channel + part.channel,
            step: [0, 1].map(|i| outer.step[i] * part.step[i]),
        }
    }

    /// Gives a feature, what it is a part of, and its parts blocks of a number of channels.
    pub fn retile(&mut self, id: FeatureId, channels: usize) {
        let root = self.root(id);
        for other in (0..self.features.len()).filter(|&other| self.root(other) == root).collect::<Vec<_>>() {
            self.features[other].tile[1] = channels;
        }
    }

    /// Removes dead layers.
    pub fn drop_unread(&mut self) {
        let mut read: Vec<bool> = self.features.iter().map(|f| matches!(f.role, Role::Result(_))).collect();
        let mut kept = Vec::with_capacity(self.layers.len());
        while let Some(layer) = self.layers.pop() {
            if read[self.root(layer.output)] {
                layer.reads().for_each(|id| read[self.root(id)] = true);
                kept.push(layer);
            }
        }
        kept.reverse();
        self.layers = kept;
    }

    /// Makes blocks of channels smaller where padded channels of a result would be computed of channels that the operands do not have.
    pub fn match_blocks(&mut self) {
        while let Some((id, channels)) = self.layers.iter().find_map(|layer| self.mismatch(layer)) {
            self.retile(id, channels);
        }
    }

    /// A feature whose blocks have to be smaller.
    fn mismatch(&self, layer: &Layer) -> Option<(FeatureId, usize)> {
        // Products have weights of zero for padded channels; other layers and sums compute them of their operands.
        let is_by_channel = layer.depthwise && !matches!(layer.weights, Weights::Elements(_));
        let tile = |id: FeatureId| self.features[id].tile[1];
        let operands = [Some(layer.input), layer.weights.feature()].into_iter().filter(|_| is_by_channel);
        operands.chain([layer.sum.map(|sum| sum.feature)]).flatten().find_map(|id| {
            let [a, b] = [tile(id), tile(layer.output)];
            let is_short = layer.kernels.next_multiple_of(b) > layer.kernels.next_multiple_of(a);
            (is_short && gcd(a, b) < b).then_some((layer.output, gcd(a, b)))
        })
    }

    /// Moves each layer that computes the other operand of a sum as early as possible, so that the layers before the sum follow each
    /// other.
    pub fn hoist_summands(&mut self) {
        let roots: Vec<FeatureId> = (0..self.features.len()).map(|id| self.root(id)).collect();
        let layers = &mut self.layers;
        for i in 0..layers.len() {
            let output = layers[i].output;
            let is_read = |l: &Layer| l.input == output || l.weights.feature() == Some(output);
            let is_other =
                layers.iter().any(|l| l.sum.is_some_and(|s| s.feature == output)) && !layers.iter().any(is_read);
            if !is_other || self.features[output].part_of.is_some() {
                continue;
            }
            let reads: Vec<FeatureId> = layers[i].reads().map(|id| roots[id]).collect();
            let writes = |l: &Layer| reads.contains(&roots[l.output]);
            let first = layers[..i].iter().rposition(writes).map_or(0, |last| last + 1);
            layers[first..=i].rotate_right(1);
        }
    }
}

/// Rows and channels of a feature as a feature of their own.
pub fn tile_of(feature: &FeatureInfo, rows: usize, channels: usize) -> FeatureInfo {
    FeatureInfo { height: rows, channels, part_of: None, ..feature.clone() }
}

/// The greatest common divisor.
pub fn gcd(a: usize, b: usize) -> usize {
    if b == 0 { a } else { gcd(b, a % b) }
}
