//! The steps of a network, and the tiles and constants that they stream.
//!
//! A step is a convolution of a tile and its requantization. It has a slot; the requantization and the stores of a step are in the
//! next slot, beside the convolution of the next step.

use super::cascade::{interleaved, layers_in_turn, turns};
use super::network::{BlockOrder, FeatureId, Network, Role, Weights, tile_of};
use super::residency::Residency;
use super::shape::{ALIGNMENT, LayerShape, Rows, parts};
use gradus_simulators::npu::{Feature, NpuMachine, Transfer};
use std::ops::{Range, RangeInclusive};

/// Bytes of a part of a load.
const PART: u32 = 16 << 10;

/// The contents of a stream.
#[derive(Clone, PartialEq, Debug)]
pub enum Held {
    /// Constants of some kernels of a layer.
    Constants {
        /// The layer.
        layer: usize,
        /// Kernels.
        kernels: Range<usize>,
    },
    /// A tile of a feature.
    Tile(Key),
}

/// A buffer in SRAM for some slots.
#[derive(Clone, PartialEq, Debug)]
pub struct Stream {
    /// Its contents.
    pub holds: Held,
    /// Bytes.
    pub bytes: usize,
    /// The slots of the first and the last convolution that use it.
    pub uses: (usize, usize),
    /// The earliest slot of its load.
    pub ready: usize,
    /// The slots of the parts of its load.
    pub issues: Vec<usize>,
    /// First byte in SRAM.
    pub place: usize,
    /// The load before the first use; `sram` counts from the buffer.
    pub load: Option<Transfer>,
    /// The store after the last use; `sram` counts from the buffer.
    pub store: Option<Transfer>,
}

/// Rows and channels of a feature in SRAM: the whole feature, or a streamed tile of it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SramRegion {
    /// The feature in SRAM.
    Whole,
    /// A streamed buffer whose first row and channel are these, with the given number of channels.
    Tile {
        /// The stream.
        stream: usize,
        /// First row.
        row: usize,
        /// First channel.
        channel: usize,
        /// Channels.
        channels: usize,
    },
}

impl SramRegion {
    /// Returns the stream of a tile.
    pub fn stream(&self) -> Option<usize> {
        match self {
            SramRegion::Tile { stream, .. } => Some(*stream),
            SramRegion::Whole => None,
        }
    }
}

/// A tile of a layer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TileStep {
    /// The layer.
    pub layer: usize,
    /// The slot of the convolution.
    pub slot: usize,
    /// First row of the output.
    pub row: usize,
    /// Number of rows.
    pub rows: usize,
    /// First kernel; of a product of elements the first element of the rows.
    pub kernel: usize,
    /// Number of kernels, or of elements.
    pub kernels: usize,
    /// The stream of the constants: weights, parameters, tables.
    pub constants: usize,
    /// The first kernel of the constants.
    pub constants_kernel: usize,
    /// The number of kernels of the constants.
    pub constants_kernels: usize,
    /// Where the input is.
    pub input: SramRegion,
    /// Where the feature is that is the weights.
    pub weights: SramRegion,
    /// Where the feature of the sum is.
    pub sum: SramRegion,
    /// Where the output goes.
    pub output: SramRegion,
}

/// The steps of a network with their streams, and the image of DDR.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Steps {
    /// Steps in order.
    pub steps: Vec<TileStep>,
    /// Streams in the order of their first use.
    pub streams: Vec<Stream>,
    /// The first byte in DDR of each feature with memory of its own there.
    pub ddr: Vec<Option<usize>>,
    /// Bytes of DDR.
    pub ddr_bytes: usize,
    /// Number of slots.
    pub slots: usize,
}

/// Divides the layers into steps. Their streams have no places yet.
pub fn divide(net: &Network, residency: &Residency, machine: &NpuMachine) -> Steps {
    let mut builder = StepBuilder::new(net, residency, machine);
    let mut first = 0;
    while first < net.layers.len() {
        let layers = layers_in_turn(&residency.cascaded, first);
        first = layers.end() + 1;
        builder.layers(layers);
    }
    builder.finish()
}

/// The constants of some kernels of a layer.
#[derive(Clone, Copy)]
pub struct Slice {
    /// First kernel.
    pub kernel: usize,
    /// Number of kernels.
    pub kernels: usize,
    /// First byte in DDR.
    at: usize,
    /// Bytes.
    bytes: usize,
}

/// Steps under construction.
pub struct StepBuilder<'a> {
    net: &'a Network,
    residency: &'a Residency,
    machine: &'a NpuMachine,
    /// The steps so far.
    pub out: Steps,
    /// The slices of each layer.
    pub slices: Vec<Vec<Slice>>,
    /// For each feature in DDR the slot after which each row is there.
    written: Vec<Vec<usize>>,
}

impl<'a> StepBuilder<'a> {
    /// Lays out DDR.
    pub fn new(net: &'a Network, residency: &'a Residency, machine: &'a NpuMachine) -> StepBuilder<'a> {
        let out = Steps { ddr: vec![None; net.features.len()], ..Steps::default() };
        let written = vec![Vec::new(); net.features.len()];
        let mut builder = StepBuilder { net, residency, machine, out, slices: Vec::new(), written };
        builder.constants();
        builder.features();
        builder
    }

    /// Returns the steps.
    pub fn finish(mut self) -> Steps {
        self.out.slots = self.out.steps.last().map_or(0, |step| step.slot + 2);
        self.out
    }

    /// Whether a feature is in SRAM as a whole.
    pub fn is_resident(&self, id: FeatureId) -> bool {
        self.residency.places[self.net.root(id)].is_some()
    }

    /// Lays out the constants of all slices of all layers, in the order of their use.
    fn constants(&mut self) {
        for index in 0..self.net.layers.len() {
            let shape = LayerShape::new(self.net, &self.net.layers[index], self.machine);
            let mut of_layer = Vec::new();
            let tiling = self.residency.tilings[index].0;
            for (kernel, kernels) in shape.slices(tiling.kernels) {
                let bytes = shape.slice_bytes(&tiling, kernels);
                of_layer.push(Slice { kernel, kernels, at: self.out.ddr_bytes, bytes });
                self.out.ddr_bytes += bytes;
            }
            self.slices.push(of_layer);
        }
    }

    /// Gives features that are not in SRAM their places, constants first.
    fn features(&mut self) {
        let is_constant = |id: &usize| matches!(self.net.features[*id].role, Role::Constant(_));
        let (first, last): (Vec<_>, Vec<_>) = (0..self.net.features.len()).partition(is_constant);
        for id in first.into_iter().chain(last) {
            let feature = &self.net.features[id];
            let is_used = self.residency.lifetimes[id].0 != usize::MAX;
            let (first, _) = self.residency.lifetimes[id];
            let is_passed_on = is_used && self.residency.cascaded[first] && self.net.layers[first].output == id;
            // The caller passes an operand even if no layer reads it.
            let has_place = is_used || matches!(feature.role, Role::Operand(_));
            if self.net.root(id) == id && has_place && !is_passed_on && !self.is_resident(id) {
                self.out.ddr[id] = Some(self.out.ddr_bytes);
                self.out.ddr_bytes += feature.bytes().next_multiple_of(ALIGNMENT);
                self.written[id] = vec![0; feature.height];
            }
        }
    }

    /// Returns the turns of a layer: their rows, and their tiles in order.
    pub fn turns(&self, index: usize) -> Vec<(Rows, Vec<Tile>)> {
        let layers = layers_in_turn(&self.residency.cascaded, index);
        let (first, last) = layers.clone().into_inner();
        let rows = match first == last {
            true => vec![(0, self.net.features[self.net.layers[index].output].height)],
            false => {
                turns(self.net, self.machine, layers, self.residency.tilings[last].0.rows).swap_remove(index - first)
            }
        };
        rows.into_iter().map(|rows| (rows, self.tiles(index, rows))).collect()
    }

    /// The tiles of some rows of a layer.
    fn tiles(&self, index: usize, rows: Rows) -> Vec<Tile> {
        let (layer, tiling) = (&self.net.layers[index], self.residency.tilings[index].0);
        let shape = LayerShape::new(self.net, layer, self.machine);
        let rows = parts(rows, tiling.rows).into_iter();
        let of_layer = self.slices[index].iter().enumerate().map(|(i, slice)| (i, (slice.kernel, slice.kernels)));
        if let Weights::Elements(_) = layer.weights {
            return rows.flat_map(|r| self.chunks(&shape, r.1).into_iter().map(move |k| (r, 0, k))).collect();
        }
        let (rows, of_layer): (Vec<_>, Vec<_>) = (rows.collect(), of_layer.collect());
        let (outer, inner) =
            if tiling.rows_outer { (rows.len(), of_layer.len()) } else { (of_layer.len(), rows.len()) };
        let tile = |pass: usize, i: usize| {
            let i = if tiling.is_backwards(pass) { inner - 1 - i } else { i };
            let (row, slice) = if tiling.rows_outer { (pass, i) } else { (i, pass) };
            let (slice, kernels) = of_layer[slice];
            (rows[row], slice, kernels)
        };
        (0..outer).flat_map(|pass| (0..inner).map(move |i| (pass, i))).map(|(pass, i)| tile(pass, i)).collect()
    }

    /// The steps of layers that take turns, or of one.
    fn layers(&mut self, layers: RangeInclusive<usize>) {
        let (first, last) = (*layers.start(), *layers.end());
        let turns: Vec<Vec<(Rows, Vec<Tile>)>> = layers.clone().map(|index| self.turns(index)).collect();
        let mut used: Vec<UsedStreams> = layers.map(|_| UsedStreams::default()).collect();
        // The stream that each layer passes to the next in the last turns, with its first row.
        let mut passed: Vec<Vec<(usize, usize)>> = vec![Vec::new(); turns.len()];
        for (i, turn) in interleaved(turns.len(), turns[0].len()) {
            let (index, (rows, tiles)) = (first + i, &turns[i][turn]);
            let output = (index < last).then(|| {
                let id = self.net.layers[index].output;
                let channels = (0, self.net.features[id].channels);
                let stream = Stream::of(
                    tile_of(&self.net.features[id], rows.1, channels.1).sram_bytes(),
                    Held::Tile((id, *rows, channels)),
                );
                (self.out.stream(stream), rows.0)
            });
            passed[i].extend(output);
            let input = i.checked_sub(1).map(|before| passed[before][turn]);
            for &tile in tiles {
                self.step(index, tile, &mut used[i], [input, output]);
            }
        }
    }

    /// Returns the tiles of input, weights, sum and output of a step, given the rows of the input.
    pub fn request(
        &self,
        index: usize,
        ((row, rows), _, (kernel, kernels)): Tile,
        input: (usize, usize),
    ) -> [Option<Key>; 4] {
        let (net, layer) = (self.net, &self.net.layers[index]);
        let shape = LayerShape::new(net, layer, self.machine);
        let is_elements = matches!(layer.weights, Weights::Elements(_));
        let range = if self.residency.tilings[index].0.rows_outer { (0, layer.kernels) } else { (kernel, kernels) };
        let range = (range.0, shape.blocks_of_output(range.0, range.1));
        let channels = |id: FeatureId| (0, net.features[id].channels);
        let weights = match layer.weights {
            Weights::Elements(id) => Some((id, (row, rows), channels(id))),
            _ => layer.weights.feature().map(|id| (id, (0, 1), channels(id))),
        };
        let of_sum = |id: FeatureId| if net.features[id].height < shape.output.height { (0, 1) } else { (row, rows) };
        [
            Some((layer.input, if is_elements { (row, rows) } else { input }, channels(layer.input))),
            weights,
            layer.sum.map(|sum| (sum.feature, of_sum(sum.feature), range)),
            Some((layer.output, (row, rows), range)),
        ]
    }

    /// The streamed tile of an operand, that of the step before if it is the same.
    fn part(&mut self, key: Key, which: usize, used: &mut UsedStreams) -> SramRegion {
        let stream = match used.current[which].filter(|(known, _)| *known == key) {
            Some((_, stream)) => stream,
            None => self.tile(key, which == 3),
        };
        used.current[which] = Some((key, stream));
        SramRegion::Tile { stream, row: key.1.0, channel: key.2.0, channels: key.2.1 }
    }

    /// Adds the step of a tile. `passed`: the streams of the tiles that the layer before passes to it, and that it passes to the next one,
    /// with their first rows.
    fn step(&mut self, index: usize, tile: Tile, used: &mut UsedStreams, passed: [Option<(usize, usize)>; 2]) {
        let ((row, rows), slice, (kernel, kernels)) = tile;
        let (net, tiling) = (self.net, self.residency.tilings[index].0);
        let layer = &net.layers[index];
        let shape = LayerShape::new(net, layer, self.machine);
        let Slice { kernel: constants_kernel, kernels: constants_kernels, .. } = self.slices[index][slice];
        let mut slot = self.out.steps.last().map_or(1, |step| step.slot + 1);
        let (first, count, _) = shape.input_rows(row, rows);
        let request = self.request(index, tile, (first, count));
        let mut parts = [SramRegion::Whole; 4];
        for (which, request) in request.into_iter().enumerate() {
            let passed = match which {
                0 => passed[0],
                3 => passed[1],
                _ => None,
            };
            parts[which] = match passed {
                Some((stream, row)) => {
                    let id = if which == 3 { layer.output } else { layer.input };
                    SramRegion::Tile { stream, row, channel: 0, channels: net.features[id].channels }
                }
                None => match request.filter(|w| !self.is_resident(w.0)) {
                    Some(key) => {
                        let part = self.part(key, which, used);
                        slot = slot.max(self.out.ready(part));
                        part
                    }
                    None => SramRegion::Whole,
                },
            };
        }
        used.constants.resize(self.slices[index].len(), None);
        if tiling.reloads_weights() {
            // Those of the step before are in SRAM.
            let is_other = |i: usize| !tiling.serpentine || i != slice;
            (0..used.constants.len()).filter(|&i| is_other(i)).for_each(|i| used.constants[i] = None);
        }
        let constants = match used.constants[slice] {
            Some(known) => known,
            None => self.constant(index, slice),
        };
        used.constants[slice] = Some(constants);
        let [input, weights, sum, output] = parts;
        let layer = index;
        self.push(TileStep {
            layer,
            slot,
            row,
            rows,
            kernel,
            kernels,
            constants,
            constants_kernel,
            constants_kernels,
            input,
            weights,
            sum,
            output,
        });
    }

    /// Appends a step, which uses its streams.
    pub fn push(&mut self, step: TileStep) {
        let parts = [step.input, step.weights, step.sum, step.output];
        for stream in parts.iter().filter_map(SramRegion::stream).chain([step.constants]) {
            let uses = &mut self.out.streams[stream].uses;
            *uses = (uses.0.min(step.slot), step.slot);
        }
        let output = self.net.layers[step.layer].output;
        let at = self.net.place(output);
        if !self.written[at.whole].is_empty() {
            // The store is in the slot after the last use; a load of these rows may be in the one after that.
            self.written[at.whole][at.rows_of(step.row, step.rows)].fill(step.slot + 2);
        }
        self.out.steps.push(step);
    }

    /// The elements of some rows as ranges that fit into half of the accumulators.
    fn chunks(&self, shape: &LayerShape<'_>, rows: usize) -> Vec<(usize, usize)> {
        let (all, most) = (rows * shape.output.row(), self.machine.accumulators as usize / 2);
        let most = most / self.machine.kernels as usize * self.machine.kernels as usize;
        (0..all).step_by(most).map(|first| (first, most.min(all - first))).collect()
    }

    /// Appends the stream of the constants of a slice of a layer.
    pub fn constant(&mut self, layer: usize, slice: usize) -> usize {
        let Slice { kernel, kernels, at, bytes } = self.slices[layer][slice];
        let load = Transfer { ddr: at as u32, run: bytes as u32, counts: [1; 3], ..Transfer::default() };
        let holds = Held::Constants { layer, kernels: kernel..kernel + kernels };
        self.out.stream(Stream { load: (bytes > 0).then_some(load), ..Stream::of(bytes, holds) })
    }

    /// Appends the stream of a tile of a feature in DDR.
    pub fn tile(&mut self, (id, (row, rows), (channel, channels)): Key, is_output: bool) -> usize {
        let at = self.net.place(id);
        let (whole, tile) = (&self.net.features[at.whole], tile_of(&self.net.features[id], rows, channels));
        let from = at.placed(whole.dense(self.out.ddr[at.whole].unwrap_or(0), 0), row, channel);
        let columns = tile.width.div_ceil(tile.tile[0]);
        let blocks = tile.row() / columns / tile.block();
        // A part of the channels of each block of columns, or of each row, or of the columns.
        let (run, counts) = match whole.blocks {
            _ if tile.width != whole.width => (tile.block(), [rows, blocks, columns]),
            _ if tile.row() == whole.row() && tile.pitch() == tile.row() && at.step[0] == 1 => (tile.bytes(), [1; 3]),
            _ if tile.row() == whole.row() => (tile.row(), [1, 1, rows]),
            BlockOrder::ColumnsInside => (tile.row(), [1, 1, rows]),
            BlockOrder::ChannelsInside => (tile.row() / columns, [1, rows, columns]),
        };
        let strides = |f: Feature| match counts {
            [1, 1, _] if tile.width == whole.width => [0, 0, f.row],
            [1, ..] if tile.width == whole.width => [0, f.row, f.col],
            _ => [f.row, f.chan, f.col],
        };
        let transfer = Transfer {
            ddr: from.base,
            sram: 0,
            run: run as u32,
            counts: counts.map(|n| n as u32),
            ddr_strides: strides(from),
            sram_strides: strides(tile.placed(0, 0)),
        };
        let written = &self.written[at.whole];
        let ready = if is_output { 0 } else { written[at.rows_of(row, rows)].iter().copied().max().unwrap_or(0) };
        let (load, store) = if is_output { (None, Some(transfer)) } else { (Some(transfer), None) };
        let holds = Held::Tile((id, (row, rows), (channel, channels)));
        self.out.stream(Stream { ready, load, store, ..Stream::of(tile.sram_bytes(), holds) })
    }
}

/// A tile of a layer: first row and number of rows, number of the slice, first kernel and number of kernels.
pub type Tile = ((usize, usize), usize, (usize, usize));

/// The streams of a layer that later steps of it use again.
#[derive(Default)]
struct UsedStreams {
    /// Constants by slice.
    constants: Vec<Option<usize>>,
    /// The tiles of input, weights, sum and output.
    current: [Option<(Key, usize)>; 4],
}

/// A tile of a feature: feature, rows, channels.
pub type Key = (FeatureId, (usize, usize), (usize, usize));

impl Stream {
    /// The parts of its load, short ones, since stores wait for a load that has begun.
    pub fn parts(&self) -> Vec<Transfer> {
        let Some(load) = self.load else { return Vec::new() };
        let [images, columns, rows] = load.counts;
        if images * columns == 1 && rows > 1 {
            // Whole rows.
            let most = (PART / load.run).max(1);
            let part = |row: u32| Transfer {
                ddr: load.ddr + row * load.ddr_strides[2],
                sram: self.place as u32 + load.sram + row * load.sram_strides[2],
                counts: [1, 1, most.min(rows - row)],
                ..load
            };
            return (0..rows).step_by(most as usize).map(part).collect();
        }
        if load.counts != [1; 3] {
            return vec![Transfer { sram: self.place as u32 + load.sram, ..load }];
        }
        let part = |at: u32| Transfer {
            ddr: load.ddr + at,
            sram: self.place as u32 + load.sram + at,
            run: PART.min(load.run - at),
            ..load
        };
        (0..load.run).step_by(PART as usize).map(part).collect()
    }

    /// A stream that is neither loaded nor stored.
    pub fn of(bytes: usize, holds: Held) -> Stream {
        Stream { holds, bytes, uses: (usize::MAX, 0), ready: 0, issues: Vec::new(), place: 0, load: None, store: None }
    }
}

impl Steps {
    /// Appends a stream.
    pub fn stream(&mut self, stream: Stream) -> usize {
        self.streams.push(stream);
        self.streams.len() - 1
    }

    /// Returns the first and the last slot of each of a number of layers.
    pub fn slots_of_layers(&self, layers: usize) -> Vec<(usize, usize)> {
        let mut slots = vec![(usize::MAX, 0); layers];
        for step in &self.steps {
            let (first, last) = &mut slots[step.layer];
            (*first, *last) = ((*first).min(step.slot), step.slot);
        }
        slots
    }

    /// Returns the earliest slot of a convolution that uses a part.
    pub fn ready(&self, part: SramRegion) -> usize {
        part.stream().map_or(0, |stream| self.streams[stream].ready)
    }
}
