//! Padding between the rows of features in SRAM: where a row is no multiple of the positions that the array computes at once, some of
//! them are in the next row, and in dense rows often in a word of the same bank.

use super::network::{FeatureId, Network, Role, RowPadding};
use super::price::Prices;
use super::shape::{LayerShape, Tiling};
use gradus_simulators::npu::NpuMachine;

/// Padding is chosen if it saves a part in this number of the array's cycles.
const LEAST_GAIN: u64 = 64;

/// Features that have the same distance of rows: those with memory of their own and their parts, and the layers that read them.
#[derive(Default)]
struct PitchGroup {
    features: Vec<FeatureId>,
    readers: Vec<usize>,
}

impl Network {
    /// Chooses the distance of rows of each feature by the cycles of the layers that read it.
    pub fn pad_rows(&mut self, machine: &NpuMachine) {
        let banks = (machine.word_bytes * machine.banks) as usize;
        for group in self.pitch_groups() {
            let mut best = (self.read_cycles(&group, machine), None);
            let most = best.0 - best.0 / LEAST_GAIN;
            for residue in (0..banks).step_by(machine.word_bytes as usize) {
                self.set_row_padding(&group, Some(RowPadding { residue, banks }));
                let cycles = self.read_cycles(&group, machine);
                if cycles < best.0.min(most) {
                    best = (cycles, Some(residue));
                }
            }
            self.set_row_padding(&group, best.1.map(|residue| RowPadding { residue, banks }));
        }
    }

    fn set_row_padding(&mut self, group: &PitchGroup, padding: Option<RowPadding>) {
        group.features.iter().for_each(|&id| self.features[id].row_padding = padding);
    }

    /// The features whose rows may be padded, by the first of them. The operand and the result of a sum may share bytes. The rows of
    /// products of elements are read as one line.
    fn pitch_groups(&self) -> Vec<PitchGroup> {
        let mut first: Vec<FeatureId> = (0..self.features.len()).map(|id| self.root(id)).collect();
        for layer in &self.layers {
            let Some(sum) = layer.sum else { continue };
            let [a, b] = [sum.feature, layer.output].map(|id| self.root(id));
            let is_alike = self.features[a].layout() == self.features[b].layout()
                && self.features[a].row() == self.features[b].row();
            // A result follows its operand: a chain of sums is followed from its begin.
            if is_alike && first[b] == b {
                first[b] = first[a];
            }
        }
        let mut groups: Vec<PitchGroup> = self.features.iter().map(|_| PitchGroup::default()).collect();
        (0..first.len()).for_each(|id| groups[first[self.root(id)]].features.push(id));
        for (index, layer) in self.layers.iter().enumerate() {
            groups[first[self.root(layer.input)]].readers.push(index);
        }
        for id in self.layers.iter().filter_map(Network::elementwise_features).flatten() {
            groups[first[self.root(id)]].features.clear();
        }
        groups.retain(|group| group.features.iter().any(|&id| self.features[id].height > 1));
        groups
    }

    /// Cycles of the array in the layers that read some features, in the largest tiles of rows.
    fn read_cycles(&self, group: &PitchGroup, machine: &NpuMachine) -> u64 {
        let cycles = group.readers.iter().map(|&index| {
            let shape = LayerShape::new(self, &self.layers[index], machine);
            let (height, width) = (shape.output.height, shape.output.width);
            let rows = (machine.accumulators / 2 / machine.kernels) as usize / width;
            let rows = rows.clamp(1, height);
            let tiles = height.div_ceil(rows) as u64;
            tiles * Prices::default().convolution(&shape, &Tiling::default(), rows, shape.padded_kernels())
        });
        cycles.sum()
    }

    /// Bytes of padding that features would have in blocks of the array's depth, beyond those that they have.
    pub fn bubbles_dropped(&self, machine: &NpuMachine) -> u64 {
        let of = |id: FeatureId| {
            let info = &self.features[id];
            let padded = info.height * info.width * info.channels.next_multiple_of(machine.depth as usize);
            let is_used = self.root(id) == id && !matches!(info.role, Role::Constant(_));
            if is_used { padded.saturating_sub(info.bytes()) } else { 0 }
        };
        let folded = self.layers.iter().filter(|layer| layer.folded > 0).map(|layer| layer.input).collect::<Vec<_>>();
        let all = (0..self.features.len()).filter(|id| !folded.contains(id)).map(of);
        (all.sum::<usize>() + self.unfolded) as u64
    }
}
