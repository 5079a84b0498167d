//! The estimated cycles of a layer: the timeline of its tiles.

use super::network::{FeatureInfo, Weights};
use super::price::{Prices, transfer};
use super::shape::{Cost, LayerShape, Resident, Rows, Tiling, parts};
use super::timeline::{TimedStep, Timeline};

/// A layer whose tiles are added to a timeline.
pub struct TiledLayer<'a> {
    shape: &'a LayerShape<'a>,
    tiling: Tiling,
    resident: Resident,
    /// First kernel and number of kernels of each slice.
    slices: Vec<(usize, usize)>,
    /// The cycle in which the constants of each slice are in SRAM.
    constants: Vec<Option<u64>>,
    /// By the number of rows of a tile, the prices of full slices and of the last one.
    prices: Vec<(usize, [Price; 2])>,
}

/// A tile of a feature in DDR: bytes, and cycles on the channel.
type Traffic = (usize, u64);

/// The prices of a tile.
#[derive(Clone, Copy, Default)]
struct Price {
    convolution: u64,
    requantization: u64,
    /// Constants.
    constants: Traffic,
    /// The output of a slice, or of all slices.
    output: [Traffic; 2],
}

impl Price {
    fn new(
        shape: &LayerShape<'_>,
        tiling: &Tiling,
        prices: &mut Prices,
        rows: usize,
        (kernel, kernels): (usize, usize),
    ) -> Price {
        let (bytes, row, machine) = (shape.slice_bytes(tiling, kernels), shape.output.row(), shape.machine);
        let part = row / shape.output.padded_channels() * shape.blocks_of_output(kernel, kernels);
        let part_cycles =
            if part == row { transfer(machine, rows * row, 1, 0) } else { transfer(machine, part, rows, row) };
        Price {
            convolution: prices.convolution(shape, tiling, rows, kernels),
            requantization: prices.requantization(shape, tiling, rows, kernels),
            constants: (bytes, if bytes > 0 { transfer(machine, bytes, 1, 0) } else { 0 }),
            output: [(rows * part, part_cycles), (rows * row, transfer(machine, rows * row, 1, 0))],
        }
    }
}

impl<'a> TiledLayer<'a> {
    /// The tiles of a layer in turns of some rows each. Features that are not resident are loaded and stored.
    pub fn new(
        shape: &'a LayerShape<'a>,
        prices: &mut Prices,
        tiling: Tiling,
        resident: Resident,
        turns: &[Rows],
    ) -> TiledLayer<'a> {
        let slices = shape.slices(tiling.kernels);
        let constants = vec![None; slices.len()];
        let ends = [slices.first(), slices.last()].map(|slice| slice.copied().unwrap_or((0, tiling.kernels)));
        let mut rows: Vec<usize> =
            turns.iter().flat_map(|turn| [turn.1.min(tiling.rows), turn.1 % tiling.rows]).collect();
        rows.sort_unstable_by_key(|&rows| std::cmp::Reverse(rows));
        rows.dedup();
        rows.retain(|&rows| rows > 0);
        let price = |rows: usize| (rows, ends.map(|slice| Price::new(shape, &tiling, prices, rows, slice)));
        let prices = rows.into_iter().map(price).collect();
        TiledLayer { shape, tiling, resident, slices, constants, prices }
    }

    fn price(&self, rows: usize, slice: usize) -> &Price {
        let at = self.prices.iter().position(|(of, _)| *of == rows).unwrap_or(0);
        &self.prices[at].1[usize::from(slice + 1 == self.slices.len())]
    }

    /// Adds all tiles.
    pub fn all(&mut self, timeline: &mut Timeline<'_>) {
        let height = self.shape.output.height;
        let tiles = parts((0, height), self.tiling.rows);
        if self.tiling.rows_outer {
            tiles.into_iter().for_each(|tile| self.rows(timeline, tile, tile.0 + tile.1 >= height));
            return;
        }
        let mut input = 0;
        for slice in 0..self.slices.len() {
            for i in 0..tiles.len() {
                let tile = tiles[if self.tiling.is_backwards(slice) { tiles.len() - 1 - i } else { i }];
                // The only tile of rows stays, and the last one until the next pass begins with it.
                let stays = |pass: usize| tiles.len() == 1 || self.tiling.serpentine && pass < self.slices.len();
                if slice == 0 || i > 0 || !stays(slice) {
                    input = self.input(timeline, tile);
                }
                let kept = if i + 1 < tiles.len() || !stays(slice + 1) { self.input_bytes(tile) } else { 0 };
                let (sum, output) = self.outputs(timeline, tile, Some(slice));
                let mut step = self.step(timeline, tile, slice, i + 1 == tiles.len());
                step.ready = step.ready.max(input).max(sum.1);
                step.releases += kept + sum.0;
                step.store = output.map(|(bytes, cycles)| (cycles, bytes));
                timeline.step(step);
            }
        }
    }

    /// Adds the tiles of some rows, whose kernels are the inner loop. `is_last_tile`: its constants are not used again.
    pub fn rows(&mut self, timeline: &mut Timeline<'_>, tile: Rows, is_last_tile: bool) {
        let input = self.input(timeline, tile);
        let (sum, output) = self.outputs(timeline, tile, None);
        let (pass, slices) = (tile.0 / self.tiling.rows, self.slices.len());
        for i in 0..slices {
            let slice = if self.tiling.is_backwards(pass) { slices - 1 - i } else { i };
            if self.tiling.reloads_weights() && (!self.tiling.serpentine || i > 0) {
                self.constants[slice] = None;
            }
            // The next tile begins with the last slice.
            let stays = self.tiling.serpentine && i + 1 == slices;
            let is_last = is_last_tile || self.tiling.reloads_weights() && !stays;
            let mut step = self.step(timeline, tile, slice, is_last);
            step.ready = step.ready.max(input).max(sum.1);
            if i + 1 == slices {
                step.releases += self.input_bytes(tile) + sum.0;
                step.store = output.map(|(bytes, cycles)| (cycles, bytes));
            }
            timeline.step(step);
        }
    }

    /// A step with its constants. `is_last`: of those of the slice.
    fn step(
        &mut self,
        timeline: &mut Timeline<'_>,
        (_, rows): (usize, usize),
        slice: usize,
        is_last: bool,
    ) -> TimedStep {
        let price = *self.price(rows, slice);
        let (bytes, cycles) = price.constants;
        let ready = match self.constants[slice] {
            _ if bytes == 0 => 0,
            Some(ready) => ready,
            None => timeline.load(bytes, cycles),
        };
        self.constants[slice] = Some(ready);
        TimedStep {
            ready,
            convolution: price.convolution,
            requantization: price.requantization,
            releases: if is_last { bytes } else { 0 },
            store: None,
        }
    }

    fn input_bytes(&self, (row, rows): (usize, usize)) -> usize {
        match self.shape.layer.weights {
            _ if self.resident.input => 0,
            Weights::Elements(_) => 2 * rows * self.shape.output.row(),
            _ if self.shape.layer.weights.is_matrix() => {
                self.shape.weights.map_or(0, FeatureInfo::bytes) + rows * self.shape.input.row()
            }
            _ => self.shape.input_rows(row, rows).1 * self.shape.input.row(),
        }
    }

    /// Loads a tile of the input. Returns the cycle in which it is in SRAM.
    fn input(&self, timeline: &mut Timeline<'_>, tile: (usize, usize)) -> u64 {
        match self.input_bytes(tile) {
            0 => 0,
            bytes => timeline.load(bytes, transfer(self.shape.machine, bytes, 1, 0)),
        }
    }

    /// Loads a tile of the sum's operand, and takes bytes for one of the output. Returns the bytes of the former with the cycle in
    /// which it is there, and the latter.
    fn outputs(
        &self,
        timeline: &mut Timeline<'_>,
        (_, rows): (usize, usize),
        slice: Option<usize>,
    ) -> (Traffic, Option<Traffic>) {
        let price = self.price(rows, slice.unwrap_or(0));
        let (bytes, cycles) = price.output[usize::from(slice.is_none())];
        let mut sum = (0, 0);
        if let Some(other) = self.shape.sum.filter(|_| !self.resident.sum) {
            // A tile of the result's extents, or a part of it that is repeated.
            let is_repeated = other.height < self.shape.output.height || other.width < self.shape.output.width;
            let channels = slice.map_or(self.shape.padded_kernels(), |slice| self.slices[slice].1);
            let some = self.shape.sum_bytes(rows, channels);
            let (bytes, cycles) =
                if is_repeated { (some, transfer(self.shape.machine, some, 1, 0)) } else { (bytes, cycles) };
            sum = (bytes, timeline.load(bytes, cycles));
        }
        let output = (!self.resident.output).then_some((bytes, cycles));
        if output.is_some() {
            timeline.take(bytes);
        }
        (sum, output)
    }
}

/// The cost of a layer.
pub fn layer_cost(shape: &LayerShape<'_>, prices: &mut Prices, tiling: Tiling, resident: Resident) -> Cost {
    let mut timeline = Timeline::new(shape.machine, shape.machine.sram_bytes as usize);
    TiledLayer::new(shape, prices, tiling, resident, &[(0, shape.output.height)]).all(&mut timeline);
    timeline.cost(shape.bytes(&tiling, resident))
}
