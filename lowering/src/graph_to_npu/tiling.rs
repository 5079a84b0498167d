//! The tiles of a layer: rows of the output and kernels of one convolution, the order of the two loops, and their costs.

use super::network::{FeatureInfo, Layer, Network, Weights};
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

/// The cost of a layer.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Cost {
    /// Cycles of the array.
    pub array: u64,
    /// Cycles of the pipe.
    pub pipe: u64,
    /// Bytes from and to DDR.
    pub ddr: u64,
    /// Number of tiles.
    pub steps: u64,
    /// Bytes of SRAM besides resident features.
    pub bytes: usize,
}

/// Cycles of a tile that are not hidden, in eighths.
const STEP: u64 = 128;

impl Cost {
    /// A number for comparisons: cycles, and a part of the work that is hidden beside them, since it may not be hidden fully.
    pub fn rank(&self, machine: &Machine) -> u64 {
        let ddr = self.ddr * 4 / u64::from(machine.ddr_rate).max(1);
        8 * self.cycles(machine) + self.array + ddr + self.steps * STEP
    }

    /// Cycles, with transfers beside computation.
    pub fn cycles(&self, machine: &Machine) -> u64 {
        self.array.max(self.pipe).max(self.ddr * 4 / u64::from(machine.ddr_rate).max(1))
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
    machine: &'a Machine,
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

    /// Cycles of the array for a tile.
    pub fn array_cycles(&self, rows: usize, kernels: usize) -> u64 {
        let groups = (rows * self.output.width).div_ceil(self.machine.positions as usize);
        let blocks = kernels / self.machine.kernels as usize * self.layer.taps() * self.depth_blocks();
        (blocks * groups) as u64 + u64::from(self.machine.start)
    }

    /// The tilings that fit into half of the accumulators and into `bytes` of SRAM.
    fn candidates(&self) -> Vec<Tiling> {
        let (width, padded, group) = (self.output.width, self.padded_kernels(), self.group());
        let half = self.machine.accumulators as usize / 2;
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
            let mut slices = padded.div_ceil(most.min(padded));
            while slices <= padded / group {
                let kernels = padded.div_ceil(slices).next_multiple_of(group).min(most);
                for (rows_outer, keeps_weights) in [(true, true), (true, false), (false, false)] {
                    all.push(Tiling { rows, kernels, rows_outer, keeps_weights });
                }
                slices = (2 * slices).max(slices + 1);
            }
        }
        all
    }

    /// The cost of a tiling.
    pub fn cost(&self, tiling: &Tiling, resident: Resident) -> Cost {
        let (height, padded) = (self.output.height, self.padded_kernels());
        let (tiles, slices) = (height.div_ceil(tiling.rows), padded.div_ceil(tiling.kernels));
        let slice = self.slice_bytes(tiling.kernels);
        let mut cost = Cost::default();
        let last = height - (tiles - 1) * tiling.rows;
        let full = self.array_cycles(tiling.rows, tiling.kernels);
        let all = |rows| {
            let rest = padded - (slices - 1) * tiling.kernels;
            (slices as u64 - 1) * if rows == tiling.rows { full } else { self.array_cycles(rows, tiling.kernels) }
                + self.array_cycles(rows, rest)
        };
        cost.array = (tiles as u64 - 1) * all(tiling.rows) + all(last);
        let outputs = (height * self.output.width * padded) as u64;
        let steps = (tiles * slices) as u64;
        cost.steps = steps;
        cost.pipe = outputs.div_ceil(u64::from(self.machine.post_width)) + steps * u64::from(self.machine.post_latency);
        let weights = (slices * slice) as u64;
        let again = if tiling.rows_outer && !tiling.keeps_weights { tiles as u64 } else { 1 };
        cost.ddr = weights * again;
        cost.bytes = if tiling.keeps_weights { slices * slice } else { 2 * slice };
        let in_rows: usize =
            (0..tiles).map(|i| self.input_rows(i * tiling.rows, tiling.rows.min(height - i * tiling.rows)).1).sum();
        if !resident.input {
            let again = if tiling.rows_outer { 1 } else { slices as u64 };
            cost.ddr += (in_rows * self.input.row()) as u64 * again;
            cost.bytes += 2 * self.max_input_rows(tiling.rows) * self.input.row();
        }
        let width = if tiling.rows_outer { padded } else { tiling.kernels } * self.output.width;
        for is_streamed in [!resident.output, self.layer.sum.is_some() && !resident.sum] {
            if is_streamed {
                cost.ddr += outputs;
                cost.bytes += 2 * tiling.rows * width;
            }
        }
        if let Weights::Elements(_) = self.layer.weights {
            cost.array = outputs.div_ceil(u64::from(self.machine.kernels)) + steps * u64::from(self.machine.start);
            if !resident.input {
                cost.ddr += outputs;
                cost.bytes += 2 * tiling.rows * width;
            }
        }
        cost
    }

    /// The tilings that are the cheapest for some number of bytes, cheapest first and thus largest first.
    pub fn frontier(&self, resident: Resident) -> Vec<(Tiling, Cost)> {
        let is_legal = |t: &Tiling| t.rows_outer || !matches!(self.layer.weights, Weights::Elements(_));
        let priced = self.candidates().into_iter().filter(is_legal).map(|t| (t, self.cost(&t, resident)));
        let mut all: Vec<(Tiling, Cost)> = priced.collect();
        all.sort_by_key(|(_, cost)| (cost.rank(self.machine), cost.bytes));
        let mut least = usize::MAX;
        all.retain(|(_, cost)| {
            cost.bytes < least && {
                least = cost.bytes;
                true
            }
        });
        all
    }
}

/// The tilings of two layers that take turns by tiles of rows, the second of which reads the tiles of the first, with the sum of
/// their costs: the cheapest for some number of bytes, cheapest first.
pub fn cascades(shapes: [&LayerShape<'_>; 2], resident: [Resident; 2]) -> Vec<([(Tiling, Cost); 2], Cost)> {
    let machine = shapes[0].machine;
    let keeping = |i: usize| {
        let all = shapes[i].candidates().into_iter().filter(|t| t.rows_outer && t.keeps_weights);
        all.map(|t| (t, shapes[i].cost(&t, resident[i]))).collect::<Vec<_>>()
    };
    let (first, second) = (keeping(0), keeping(1));
    let mut all = Vec::new();
    for &(a, cost) in &first {
        for &(b, other) in second.iter().filter(|(b, _)| b.rows == a.rows) {
            let tile = 2 * a.rows * shapes[0].output.row();
            let sum = Cost {
                array: cost.array + other.array,
                pipe: cost.pipe + other.pipe,
                ddr: cost.ddr + other.ddr,
                steps: cost.steps + other.steps,
                bytes: cost.bytes + other.bytes + tile,
            };
            all.push(([(a, cost), (b, other)], sum));
        }
    }
    all.sort_by_key(|(_, cost)| (cost.rank(machine), cost.bytes));
    let mut least = usize::MAX;
    all.retain(|(_, cost)| {
        cost.bytes < least && {
            least = cost.bytes;
            true
        }
    });
    all
}

/// Alignment of buffers in SRAM, a word.
pub const ALIGNMENT: usize = 64;
/// Alignment of parameters behind weights.
pub const PARAMETERS_ALIGNMENT: usize = 4;
