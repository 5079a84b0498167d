//! The tiles of a layer: rows of the output and kernels of one convolution, the order of the two loops, and their costs.

use super::estimate::{cascade_cost, layer_cost};
use super::network::{FeatureInfo, Layer, Network, Weights};
use super::price::Prices;
use gradus_simulators::npu::Machine;

/// Bytes of the parameters of a kernel: bias, scale, shift.
pub const PARAMETERS: usize = 12;
/// Bytes of a table.
pub const TABLE: usize = 256;

/// The tiles of a layer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
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
    /// The machine.
    pub machine: &'a Machine,
}

impl<'a> LayerShape<'a> {
    /// Returns the shape of a layer of a network.
    pub fn new(net: &'a Network, layer: &'a Layer, machine: &'a Machine) -> LayerShape<'a> {
        let [input, output] = [layer.input, layer.output].map(|id| &net.features[id]);
        LayerShape { layer, input, output, machine }
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
    fn depth_blocks(&self) -> usize {
        self.layer.depth.div_ceil(self.machine.depth as usize)
    }

    /// Bytes of the constants of a slice of kernels: weights, parameters, tables.
    pub fn slice_bytes(&self, kernels: usize) -> usize {
        let layer = self.layer;
        let weights = match layer.weights {
            Weights::Constant(_) if layer.depthwise => kernels * layer.taps(),
            Weights::Constant(_) => kernels * layer.taps() * self.depth_blocks() * self.machine.depth as usize,
            _ => 0,
        };
        let each = |len: usize, bytes: usize| if len > 1 { kernels * bytes } else { len * bytes };
        let tables = each(layer.table.len() / TABLE, TABLE);
        (weights.next_multiple_of(PARAMETERS_ALIGNMENT) + each(layer.requantization.len(), PARAMETERS) + tables)
            .next_multiple_of(ALIGNMENT)
    }

    /// The rows of the input that rows `first..first + rows` of the output read: the first, their number, and the rows of padding
    /// before them.
    pub fn input_rows(&self, first: usize, rows: usize) -> (usize, usize, usize) {
        let (layer, height) = (self.layer, self.input.height);
        let begin = (first * layer.stride[0]) as i64 - layer.pad[0] as i64;
        let end = begin + ((rows - 1) * layer.stride[0] + (layer.kernel[0] - 1) * layer.dilation[0] + 1) as i64;
        let (from, to) = (begin.clamp(0, height as i64 - 1), end.clamp(1, height as i64));
        (from as usize, (to - from).max(1) as usize, (from - begin).max(0) as usize)
    }

    /// The largest number of rows of the input that a tile reads.
    fn max_input_rows(&self, rows: usize) -> usize {
        let layer = self.layer;
        ((rows - 1) * layer.stride[0] + (layer.kernel[0] - 1) * layer.dilation[0] + 1).min(self.input.height)
    }

    /// The tilings that fit into half of the accumulators and into `bytes` of SRAM.
    fn candidates(&self) -> Vec<Tiling> {
        let (width, padded, group) = (self.output.width, self.padded_kernels(), self.group());
        let half = self.machine.accumulators as usize / 2;
        let is_elements = matches!(self.layer.weights, Weights::Elements(_));
        let mut all = Vec::new();
        for rows in 1..=self.output.height {
            // Equal tiles: only the smallest number of rows with as many tiles.
            if rows > 1 && self.output.height.div_ceil(rows) == self.output.height.div_ceil(rows - 1) {
                continue;
            }
            let most = half / (rows * width) / group * group;
            if most == 0 {
                break;
            }
            // The numbers of slices do not depend on the accumulators, so that more of them only add tilings.
            let (mut slices, most_slices) = (1, if is_elements { 1 } else { padded / group });
            while slices <= most_slices {
                let kernels = padded.div_ceil(slices).next_multiple_of(group);
                if kernels <= most || is_elements {
                    // Two slices take the same bytes if they stay.
                    let loops = [(true, true), (false, false), (true, false)];
                    for &(rows_outer, keeps_weights) in &loops[..if slices > 2 { 3 } else { 2 }] {
                        all.push(Tiling { rows, kernels, rows_outer, keeps_weights });
                    }
                }
                // Four numbers from each power of two to the next, and at last slices of one group.
                let next = slices + (slices.next_power_of_two() / 8).max(1);
                slices = if slices < most_slices { next.min(most_slices) } else { next };
            }
        }
        all
    }

    /// Bytes of SRAM of a tiling besides resident features: double buffers of all that is loaded and stored.
    pub fn bytes(&self, tiling: &Tiling, resident: Resident) -> usize {
        let slice = self.slice_bytes(tiling.kernels);
        let mut bytes =
            if tiling.keeps_weights { self.padded_kernels().div_ceil(tiling.kernels) * slice } else { 2 * slice };
        if !resident.input {
            bytes += 2 * self.max_input_rows(tiling.rows) * self.input.row();
        }
        let width = if tiling.rows_outer { self.padded_kernels() } else { tiling.kernels } * self.output.width;
        let is_elements = matches!(self.layer.weights, Weights::Elements(_));
        let streamed = [!resident.output, self.layer.sum.is_some() && !resident.sum, is_elements && !resident.input];
        bytes + streamed.into_iter().filter(|&is| is).count() * 2 * tiling.rows * width
    }

    /// Cycles that a tiling takes at least.
    fn least(&self, tiling: &Tiling, resident: Resident) -> u64 {
        let machine = self.machine;
        let positions = (self.output.height * self.output.width).div_ceil(machine.positions as usize);
        let blocks = self.layer.taps() * self.depth_blocks() * self.padded_kernels().div_ceil(machine.kernels as usize);
        let [tiles, slices] = self.counts(tiling);
        let again = if tiling.rows_outer && !tiling.keeps_weights { tiles } else { 1 };
        let mut bytes = self.slice_bytes(tiling.kernels) * (slices - 1) * again;
        if !resident.input {
            let again = if tiling.rows_outer || tiles == 1 { 1 } else { slices };
            bytes += (self.input.height - self.layer.kernel[0].min(self.input.height)) * self.input.row() * again;
        }
        let steps = (tiles * slices) as u64;
        let array = match self.layer.weights {
            Weights::Elements(_) => 0,
            _ => (positions * blocks) as u64,
        };
        (array + steps * u64::from(machine.start)).max(bytes as u64 * 4 / u64::from(machine.ddr_rate))
    }

    /// Tiles of rows and slices of kernels.
    fn counts(&self, tiling: &Tiling) -> [usize; 2] {
        [self.output.height.div_ceil(tiling.rows), self.padded_kernels().div_ceil(tiling.kernels)]
    }

    /// The tilings with their costs, without those that need more bytes than another one and cannot be better by a part in 64.
    pub fn priced(&self, resident: Resident, prices: &mut Prices) -> Vec<(Tiling, Cost)> {
        let is_legal = |t: &Tiling| t.rows_outer || !matches!(self.layer.weights, Weights::Elements(_));
        let mut all: Vec<(u64, usize, Tiling)> = Vec::new();
        for tiling in self.candidates().into_iter().filter(is_legal) {
            all.push((self.least(&tiling, resident), self.bytes(&tiling, resident), tiling));
        }
        all.sort_by_key(|&(least, bytes, _)| (least, bytes));
        let mut priced: Vec<(Tiling, Cost)> = Vec::new();
        for (least, bytes, tiling) in all {
            if priced.iter().any(|(_, cost)| cost.bytes <= bytes && cost.alone <= least + least / 64) {
                continue;
            }
            priced.push((tiling, layer_cost(self, prices, tiling, resident)));
        }
        priced
    }
}

/// The choices that are the cheapest for some number of bytes, cheapest first.
pub fn frontier<T: Copy>(priced: &[(T, Cost)], by: Weighing) -> Vec<(T, Cost)> {
    let mut all = priced.to_vec();
    all.sort_by_key(|(_, cost)| (cost.rank(by), cost.bytes));
    let mut least = usize::MAX;
    all.retain(|(_, cost)| {
        let is_less = cost.bytes < least;
        least = least.min(cost.bytes);
        is_less
    });
    all
}

/// The tilings of two layers that take turns by tiles of rows, the second of which reads the tiles of the first, with their costs
/// together, without those that need more bytes than others and cannot be better by a part in 64.
pub fn cascades(
    shapes: [&LayerShape<'_>; 2],
    resident: [Resident; 2],
    prices: &mut [Prices],
) -> Vec<([Tiling; 2], Cost)> {
    let keeping = |i: usize| {
        let mut all = shapes[i].candidates();
        all.retain(|t| t.rows_outer && t.keeps_weights);
        all
    };
    let (first, second) = (keeping(0), keeping(1));
    let mut all = Vec::new();
    for &a in &first {
        for &b in second.iter().filter(|b| b.rows == a.rows) {
            let bytes = shapes[0].bytes(&a, resident[0])
                + shapes[1].bytes(&b, resident[1])
                + 2 * a.rows * shapes[0].output.row();
            let least = shapes[0].least(&a, resident[0]) + shapes[1].least(&b, resident[1]);
            all.push((least, bytes, [a, b]));
        }
    }
    all.sort_by_key(|&(least, bytes, _)| (least, bytes));
    let mut priced: Vec<([Tiling; 2], Cost)> = Vec::new();
    for (least, bytes, tilings) in all {
        if priced.iter().any(|(_, cost)| cost.bytes <= bytes && cost.alone <= least + least / 64) {
            continue;
        }
        priced.push((tilings, cascade_cost(shapes, prices, tilings, resident, bytes)));
    }
    priced
}

/// Alignment of buffers in SRAM, a word.
pub const ALIGNMENT: usize = 64;
/// Alignment of parameters behind weights.
pub const PARAMETERS_ALIGNMENT: usize = 4;
