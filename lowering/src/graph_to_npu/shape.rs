//! Layers with the extents that their tiles depend on, tiles, and costs, as data.

use super::network::{FeatureInfo, Layer, Network, Weights, tile_of};
use super::weight_mode::WeightMode;
use gradus_simulators::npu::NpuMachine;

/// Alignment of buffers in SRAM, a word.
pub const ALIGNMENT: usize = 64;
/// Alignment of parameters behind weights.
pub const PARAMETERS_ALIGNMENT: usize = 4;
/// Bytes of the parameters of a kernel: bias, scale, shift.
pub const PARAMETERS: usize = 12;
/// Bytes of a table.
pub const TABLE: usize = 256;

/// The tiles of a layer.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Tiling {
    /// Rows of the output of a tile.
    pub rows: usize,
    /// Kernels of a slice, a multiple of the machine's kernels.
    pub kernels: usize,
    /// Whether rows are the outer loop. Weights stay in SRAM if they fit, otherwise each tile of rows loads them again; with kernels
    /// outside, each slice loads rows again that are not in SRAM.
    pub rows_outer: bool,
    /// Whether all weights of the layer are in SRAM at once.
    pub keeps_weights: bool,
    /// Whether every other pass of the inner loop is backwards, so that its first tile or slice is the one that is in SRAM already.
    pub serpentine: bool,
    /// The mode of constant weights, `None` for that of the multipliers.
    pub mode: Option<WeightMode>,
    /// Whether the mover copies slices instead of array and pipe.
    pub moved: bool,
}

impl Tiling {
    /// Whether each tile of rows loads the weights again.
    pub fn reloads_weights(&self) -> bool {
        self.rows_outer && !self.keeps_weights
    }

    /// Whether pass `pass` of the inner loop is backwards.
    pub fn is_backwards(&self, pass: usize) -> bool {
        self.serpentine && !pass.is_multiple_of(2)
    }
}

/// Rows: the first one, and their number.
pub type Rows = (usize, usize);

/// Divides rows into parts of a number of rows.
pub fn parts((first, all): Rows, rows: usize) -> Vec<Rows> {
    (0..all).step_by(rows.max(1)).map(|row| (first + row, rows.min(all - row))).collect()
}

/// Which features of a layer are in SRAM for their lifetime; others are streamed from and to DDR in tiles.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Resident {
    /// The input, and the feature that is the weights.
    pub input: bool,
    /// The output.
    pub output: bool,
    /// The feature of the sum.
    pub sum: bool,
}

/// The estimated cost of a layer.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Cost {
    /// Cycles of the array.
    pub array: u64,
    /// Cycles of the pipe.
    pub pipe: u64,
    /// Cycles of the DMA channel.
    pub channel: u64,
    /// Cycles from the start of the first convolution to the end of the last one, in a layer by itself.
    pub body: u64,
    /// Cycles of the layer by itself.
    pub alone: u64,
    /// Bytes of SRAM besides resident features.
    pub bytes: usize,
}

/// The factors of the parts of a cost in comparisons. How much of a layer's latency its neighbours hide depends on them, so several
/// are tried.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Weighing {
    /// Factor of the cycles of the busiest unit.
    pub busiest: u64,
    /// Factor of the cycles of array and channel.
    pub each: u64,
    /// Factor of the body.
    pub body: u64,
    /// Factor of the cycles of the layer by itself.
    pub alone: u64,
}

impl Cost {
    /// Whether another cost is at least as high in all comparisons.
    pub fn is_least(&self, other: &Cost) -> bool {
        let parts = |cost: &Cost| {
            let busiest = cost.array.max(cost.pipe).max(cost.channel);
            [busiest, cost.array + cost.channel, cost.body, cost.alone, cost.bytes as u64]
        };
        parts(self).iter().zip(&parts(other)).all(|(this, other)| this <= other)
    }

    /// A number for comparisons.
    pub fn rank(&self, by: Weighing) -> u64 {
        let busiest = self.array.max(self.pipe).max(self.channel);
        by.busiest * busiest + by.each * (self.array + self.channel) + by.body * self.body + by.alone * self.alone
    }
}

/// A layer with the extents that its tiles depend on.
#[derive(Clone, Copy, Debug)]
pub struct LayerShape<'a> {
    /// The layer.
    pub layer: &'a Layer,
    /// Its input.
    pub input: &'a FeatureInfo,
    /// Its output.
    pub output: &'a FeatureInfo,
    /// The feature that is the weights.
    pub weights: Option<&'a FeatureInfo>,
    /// The other operand of the sum.
    pub sum: Option<&'a FeatureInfo>,
    /// The network.
    pub net: &'a Network,
    /// The machine.
    pub machine: &'a NpuMachine,
}

impl<'a> LayerShape<'a> {
    /// Returns the shape of a layer of a network.
    pub fn new(net: &'a Network, layer: &'a Layer, machine: &'a NpuMachine) -> LayerShape<'a> {
        let [input, output] = [layer.input, layer.output].map(|id| &net.features[id]);
        let weights = layer.weights.feature().map(|id| &net.features[id]);
        let sum = layer.sum.map(|sum| &net.features[sum.feature]);
        LayerShape { layer, input, output, weights, sum, net, machine }
    }

    /// Kernels padded to whole groups of the array and whole blocks of the output.
    pub fn padded_kernels(&self) -> usize {
        self.layer.kernels.next_multiple_of(self.group())
    }

    /// Kernels that are computed together: whole groups of the array that are whole blocks of the output.
    pub fn group(&self) -> usize {
        let (kernels, block) = (self.machine.kernels as usize, self.output.tile[1]);
        let block = if self.layer.depthwise { block.max(self.input.tile[1]) } else { block };
        kernels.max(block).next_multiple_of(kernels)
    }

    /// The channels of the output that some kernels write: whole blocks.
    pub fn blocks_of_output(&self, kernel: usize, kernels: usize) -> usize {
        let block = self.output.tile[1];
        kernels.next_multiple_of(block).min(self.layer.kernels.next_multiple_of(block) - kernel)
    }

    /// Blocks of depth of a kernel.
    pub fn depth_blocks(&self) -> usize {
        self.layer.depth.div_ceil(self.machine.depth as usize)
    }

    /// Bytes of the constants of a slice of kernels: weights, parameters, tables.
    pub fn slice_bytes(&self, tiling: &Tiling, kernels: usize) -> usize {
        if tiling.moved {
            return 0;
        }
        let layer = self.layer;
        let each = |len: usize, bytes: usize| if len > 1 { kernels * bytes } else { len * bytes };
        let tables = each(layer.table.len() / TABLE, TABLE);
        (self.weight_bytes(tiling, kernels) + each(layer.requantization.len(), PARAMETERS) + tables)
            .next_multiple_of(ALIGNMENT)
    }

    /// Returns the rows of the input that rows `first..first + rows` of the output read: the first row, their number, and the number of
    /// padding rows before them.
    pub fn input_rows(&self, first: usize, rows: usize) -> (usize, usize, usize) {
        let (layer, height) = (self.layer, self.input.height);
        let begin = (first * layer.stride[0]) as i64 - layer.pad[0] as i64;
        let end = begin + ((rows - 1) * layer.stride[0] + (layer.kernel[0] - 1) * layer.dilation[0] + 1) as i64;
        let (from, to) = (begin.clamp(0, height as i64 - 1), end.clamp(1, height as i64));
        (from as usize, (to - from).max(1) as usize, (from - begin).max(0) as usize)
    }

    /// The largest number of rows of the input that a tile reads.
    pub fn max_input_rows(&self, rows: usize) -> usize {
        let layer = self.layer;
        ((rows - 1) * layer.stride[0] + (layer.kernel[0] - 1) * layer.dilation[0] + 1).min(self.input.height)
    }

    /// Bytes of SRAM of a tiling besides resident features: double buffers of all that is loaded and stored.
    pub fn bytes(&self, tiling: &Tiling, resident: Resident) -> usize {
        let slice = self.slice_bytes(tiling, tiling.kernels);
        let mut bytes =
            if tiling.keeps_weights { self.padded_kernels().div_ceil(tiling.kernels) * slice } else { 2 * slice };
        if !resident.input {
            bytes += 2 * self.max_input_rows(tiling.rows) * self.input.pitch();
        }
        let channels = if tiling.rows_outer { self.padded_kernels() } else { tiling.kernels };
        if !resident.input && self.layer.weights.is_matrix() {
            bytes += 2 * self.weights.map_or(0, FeatureInfo::bytes);
        }
        let is_elements = matches!(self.layer.weights, Weights::Elements(_));
        if !resident.sum {
            bytes += 2 * self.sum_bytes(tiling.rows, channels);
        }
        let streamed = [!resident.output, is_elements && !resident.input];
        let output = tile_of(self.output, tiling.rows, channels).sram_bytes();
        bytes + streamed.into_iter().filter(|&is| is).count() * 2 * output
    }

    /// Bytes of the other operand of the sum, for some rows and channels of the result; it may be repeated along rows and columns.
    pub fn sum_bytes(&self, rows: usize, channels: usize) -> usize {
        self.sum.map_or(0, |sum| tile_of(sum, rows.min(sum.height), channels).sram_bytes())
    }

    /// The slices of kernels of a layer: first kernel, number.
    pub fn slices(&self, kernels: usize) -> Vec<(usize, usize)> {
        let all = self.padded_kernels();
        if let Weights::Elements(_) = self.layer.weights {
            return vec![(0, all)];
        }
        (0..all).step_by(kernels).map(|first| (first, kernels.min(all - first))).collect()
    }
}
