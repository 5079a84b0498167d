//! The layouts of products of elements. Both operands and the result are lines of bytes in the same order: of features that nothing else
//! reads, the layout of the fewest cycles; otherwise the layers that copy features into the layout that costs least.

use super::estimate::layer_cost;
use super::network::{BlockOrder, FeatureId, FeatureInfo, Layer, Network, Role, Weights, gcd};
use super::price::Prices;
use super::shape::{LayerShape, Resident, Tiling};
use gradus_simulators::npu::NpuMachine;
use rustc_hash::FxHashMap;

/// A layout: columns and channels of a block, and the order of blocks.
pub type Layout = ([usize; 2], BlockOrder);

/// Returns the layout that a product of elements has by force, if it has one.
type Forced<'a> = &'a dyn Fn(&Layer) -> Option<Layout>;

/// The blocks of features whose layout is free: `8c`, `4c`, `2c`, `1c`, `4w4c`, `8w4c`, `8w8c`, `2w1c`, `4w1c`.
const LAYOUTS: [[usize; 2]; 9] = [[1, 8], [1, 4], [1, 2], [1, 1], [4, 4], [8, 4], [8, 8], [2, 1], [4, 1]];

/// Parses a layout: `8c`, `4w4c`, or `4w4c-by-columns`, in which channels are the inner loop of blocks.
pub fn parse(text: &str) -> Option<Layout> {
    let (mode, blocks) = match text.strip_suffix("-by-columns") {
        Some(mode) => (mode, BlockOrder::ChannelsInside),
        None => (text, BlockOrder::ColumnsInside),
    };
    let mode = mode.strip_suffix('c')?;
    let (columns, channels) = mode.split_once('w').unwrap_or(("1", mode));
    let number = |text: &str| text.parse::<usize>().ok().filter(|n| (1..=256).contains(n));
    Some(([number(columns)?, number(channels)?], blocks))
}

/// The text of a layout.
pub fn text((tile, blocks): Layout) -> String {
    let [columns, channels] = tile;
    let mode = if columns == 1 { format!("{channels}c") } else { format!("{columns}w{channels}c") };
    mode + if blocks == BlockOrder::ChannelsInside { "-by-columns" } else { "" }
}

impl Network {
    /// Completes a network of which all layers are known. `forced`: the layout of a product of elements, by force.
    pub fn finish(&mut self, machine: &NpuMachine, forced: Forced<'_>) {
        self.drop_unread();
        self.choose_elementwise_layouts(machine, forced);
        self.match_blocks();
        while self.match_layouts(machine, forced) {
            self.match_blocks();
        }
        self.hoist_summands();
    }

    /// Returns the operands and the result of an elementwise product, the result last; `None` for other layers.
    pub fn elementwise_features(layer: &Layer) -> Option<Vec<FeatureId>> {
        let Weights::Elements(weights) = layer.weights else { return None };
        let sum = layer.sum.map(|sum| sum.feature);
        Some([Some(layer.input), Some(weights), sum, Some(layer.output)].into_iter().flatten().collect())
    }

    /// Whether only products of elements read and write each feature.
    fn free(&self) -> Vec<bool> {
        let mut free: Vec<bool> = self.features.iter().map(|info| info.part_of.is_none()).collect();
        let others = self.layers.iter().filter(|l| Network::elementwise_features(l).is_none());
        others.flat_map(|l| l.reads().chain([l.output])).for_each(|id| free[self.root(id)] = false);
        free
    }

    /// The features of products of elements, those together that products join, with the first of their products.
    fn elementwise_groups(&self) -> Vec<(usize, Vec<FeatureId>)> {
        let mut joined: Vec<FeatureId> = (0..self.features.len()).collect();
        let first_of = |joined: &mut Vec<FeatureId>, mut id: FeatureId| {
            while joined[id] != id {
                joined[id] = joined[joined[id]];
                id = joined[id];
            }
            id
        };
        for features in self.layers.iter().filter_map(Network::elementwise_features) {
            let first = first_of(&mut joined, features[0]);
            for id in features {
                let other = first_of(&mut joined, id);
                joined[other] = first;
            }
        }
        let mut groups: Vec<(usize, Vec<FeatureId>)> = Vec::new();
        let mut places: FxHashMap<FeatureId, usize> = FxHashMap::default();
        let mut known = vec![false; self.features.len()];
        for (index, features) in
            self.layers.iter().enumerate().filter_map(|(i, l)| Some((i, Network::elementwise_features(l)?)))
        {
            for id in features.into_iter().filter(|&id| !std::mem::replace(&mut known[id], true)) {
                let place = *places.entry(first_of(&mut joined, id)).or_insert_with(|| {
                    groups.push((index, Vec::new()));
                    groups.len() - 1
                });
                groups[place].1.push(id);
            }
        }
        groups
    }

    /// Chooses the layout of products whose operands and results are free.
    fn choose_elementwise_layouts(&mut self, machine: &NpuMachine, forced: Forced<'_>) {
        let free = self.free();
        for (first, group) in self.elementwise_groups() {
            if !group.iter().all(|&id| free[id]) {
                continue;
            }
            let layouts: Vec<Layout> = match forced(&self.layers[first]) {
                Some(layout) => vec![layout],
                None => LAYOUTS.iter().map(|&tile| (tile, BlockOrder::ColumnsInside)).collect(),
            };
            let index = |layout: &Layout| self.elementwise_cost(first, *layout, machine);
            if let Some(layout) = layouts.into_iter().min_by_key(index) {
                group.iter().for_each(|&id| self.lay_out(id, layout));
            }
        }
    }

    fn lay_out(&mut self, id: FeatureId, (tile, blocks): Layout) {
        (self.features[id].tile, self.features[id].blocks) = (tile, blocks);
    }

    /// Estimated cycles of a product whose features have a layout, from and to DDR.
    fn elementwise_cost(&self, layer: usize, layout: Layout, machine: &NpuMachine) -> u64 {
        let mut layer = self.layers[layer].clone();
        let mut net = Network::default();
        let mut alone = |id: FeatureId| {
            net.features.push(FeatureInfo {
                part_of: None,
                tile: layout.0,
                blocks: layout.1,
                ..self.features[id].clone()
            });
            net.features.len() - 1
        };
        if let Weights::Elements(id) = layer.weights {
            layer.weights = Weights::Elements(alone(id));
        }
        (layer.input, layer.output) = (alone(layer.input), alone(layer.output));
        layer.sum.iter_mut().for_each(|sum| sum.feature = alone(sum.feature));
        net.layers.push(layer);
        net.copy_cost(machine)
    }

    /// Estimated cycles of the only layer, in tiles of as many rows as half of the accumulators hold.
    fn copy_cost(&self, machine: &NpuMachine) -> u64 {
        let shape = LayerShape::new(self, &self.layers[0], machine);
        let kernels = shape.padded_kernels();
        let most = machine.accumulators as usize / 2 / (shape.output.width * kernels);
        let tiling = Tiling {
            rows: most.clamp(1, shape.output.height),
            kernels,
            rows_outer: true,
            keeps_weights: true,
            ..Tiling::default()
        };
        layer_cost(&shape, &mut Prices::default(), tiling, Resident { input: false, output: false, sum: true }).alone
    }

    /// Copies features of products of elements whose layouts differ, or are not the one by force. Returns whether there are any.
    fn match_layouts(&mut self, machine: &NpuMachine, forced: Forced<'_>) -> bool {
        let (mut at, mut is_changed) = (0, false);
        while at < self.layers.len() {
            let features = Network::elementwise_features(&self.layers[at]).unwrap_or_default();
            let layouts: Vec<Layout> = features.iter().map(|&id| self.features[id].layout()).collect();
            let Some(info) = features.first().map(|&id| &self.features[id]) else {
                at += 1;
                continue;
            };
            let (width, channels) = (info.width, info.channels);
            // Copies leave the columns alone that pad the last block, and copy channels that exist.
            let padded = |layout: &Layout| channels.next_multiple_of(layout.0[1]);
            let least = layouts[..layouts.len() - 1].iter().map(padded).min().unwrap_or(channels);
            let is_filled = |layout: &Layout| width.is_multiple_of(layout.0[0]) && padded(layout) <= least;
            let forced = forced(&self.layers[at]).filter(is_filled);
            if layouts.iter().all(|layout| *layout == forced.unwrap_or(layouts[0])) {
                at += 1;
                continue;
            }
            let candidates = layouts.iter().copied().chain(forced).filter(is_filled);
            let cost = |layout: &Layout| (forced != Some(*layout), self.conversions(at, &features, *layout, machine));
            let common = layouts.iter().fold(0, |n, layout| gcd(n, layout.0[1]));
            let layout = candidates.min_by_key(cost).unwrap_or(([1, common], BlockOrder::ColumnsInside));
            (at, is_changed) = (self.convert(at, &features, layout) + 1, true);
        }
        is_changed
    }

    /// Estimated cycles of the copies of a product, and of itself.
    fn conversions(&self, at: usize, features: &[FeatureId], layout: Layout, machine: &NpuMachine) -> u64 {
        let copied = features.iter().filter(|&&id| self.features[id].layout() != layout).map(|&id| {
            let info = &self.features[id];
            let mut net = Network { features: vec![info.clone(), info.clone()], ..Network::default() };
            net.lay_out(1, layout);
            net.layers.push(Layer::copy(Vec::new(), 0, 1, info.channels, info.signed));
            net.copy_cost(machine)
        });
        copied.sum::<u64>() + self.elementwise_cost(at, layout, machine)
    }

    /// Gives a product features of a layout. Returns its place then.
    fn convert(&mut self, mut at: usize, features: &[FeatureId], layout: Layout) -> usize {
        let output = features[features.len() - 1];
        for &id in features {
            if self.features[id].layout() == layout {
                continue;
            }
            let mut info = self.features[id].clone();
            (info.part_of, info.role, info.tile, info.blocks) = (None, Role::Inner, layout.0, layout.1);
            let (channels, signed, ops) = (info.channels, info.signed, self.layers[at].ops.clone());
            self.features.push(info);
            let copied = self.features.len() - 1;
            if id == output {
                self.layers[at].output = copied;
                self.layers.insert(at + 1, Layer::copy(ops.clone(), copied, id, channels, signed));
                continue;
            }
            let layer = &mut self.layers[at];
            if layer.input == id {
                layer.input = copied;
            }
            if layer.weights == Weights::Elements(id) {
                layer.weights = Weights::Elements(copied);
            }
            layer.sum.iter_mut().filter(|sum| sum.feature == id).for_each(|sum| sum.feature = copied);
            self.layers.insert(at, Layer::copy(ops.clone(), id, copied, channels, signed));
            at += 1;
        }
        at
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modes_are_read() {
        assert_eq!(parse("8c"), Some(([1, 8], BlockOrder::ColumnsInside)));
        assert_eq!(parse("8w4c-by-columns"), Some(([8, 4], BlockOrder::ChannelsInside)));
        assert!(["", "c", "w4c", "0c", "4w", "4w4", "x4c", "4w4c-", "999c"].iter().all(|text| parse(text).is_none()));
    }
}
