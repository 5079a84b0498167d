//! Instructions of steps, in the order of slots: loads, the convolution of a step, the requantization and the stores of the step
//! before.

use super::moves::moves;
use super::network::{FeatureId, FeatureInfo, Network, Weights, tile_of};
use super::order::{self, Ordered};
use super::residency::Residency;
use super::shape::{LayerShape, PARAMETERS, TABLE};
use super::steps::{SramRegion, Steps, TileStep};
use super::weight_layout::ZeroTap;
use gradus_simulators::npu::{self, Conv, Feature, NpuInst, NpuMachine, Post, Residual, Transfer, Unit};
use rustc_hash::FxHashMap;

/// Emits the program.
pub fn emit(net: &Network, residency: &Residency, steps: &Steps, machine: &NpuMachine) -> Vec<NpuInst> {
    let emitter = InstructionEmitter { net, residency, steps, machine };
    let mut out = Ordered::default();
    let mut loads: Vec<(usize, usize, Transfer)> = Vec::new();
    for stream in &steps.streams {
        let parts = stream.issues.iter().zip(stream.parts());
        loads.extend(parts.map(|(&slot, part)| (slot, stream.uses.0, part)));
    }
    loads.sort_by_key(|&(slot, first_use, _)| (slot, first_use));
    let mut stores: Vec<usize> = (0..steps.streams.len()).filter(|&i| steps.streams[i].store.is_some()).collect();
    stores.sort_by_key(|&i| steps.streams[i].uses.1);
    let (mut loads, mut stores) = (loads.into_iter().peekable(), stores.into_iter().peekable());
    let mut pending: Option<NpuInst> = None;
    let mut next = steps.steps.iter().peekable();
    for slot in 0..steps.slots {
        while let Some((.., part)) = loads.next_if(|&(at, ..)| at == slot) {
            out.push(NpuInst::Load(part), machine);
        }
        let step = next.next_if(|step| step.slot == slot);
        let first = step.map_or(Vec::new(), |step| emitter.first(step));
        let reads = |post: &mut NpuInst| first.iter().any(|inst| order::reads_result(inst, post, machine));
        pending.take_if(reads).into_iter().for_each(|post| out.push(post, machine));
        first.into_iter().for_each(|inst| out.push(inst, machine));
        pending.take().into_iter().for_each(|post| out.push(post, machine));
        pending = step.and_then(|step| emitter.post(step));
        while let Some(stream) = stores.next_if(|&i| steps.streams[i].uses.1 + 1 == slot).map(|i| &steps.streams[i]) {
            let Some(mut transfer) = stream.store else { continue };
            transfer.sram = stream.place as u32;
            out.push(NpuInst::Store(transfer), machine);
        }
    }
    out.finish()
}

/// Returns the layer of each instruction of array, pipe and mover of a program, by unit, in order.
pub fn layers_of_units(
    net: &Network,
    residency: &Residency,
    steps: &Steps,
    machine: &NpuMachine,
) -> FxHashMap<Unit, Vec<usize>> {
    let emitter = InstructionEmitter { net, residency, steps, machine };
    let mut layers: FxHashMap<Unit, Vec<usize>> = FxHashMap::default();
    for step in &steps.steps {
        for unit in emitter.first(step).into_iter().chain(emitter.post(step)).filter_map(|inst| inst.unit()) {
            layers.entry(unit).or_default().push(step.layer);
        }
    }
    layers
}

struct InstructionEmitter<'a> {
    net: &'a Network,
    residency: &'a Residency,
    steps: &'a Steps,
    machine: &'a NpuMachine,
}

impl InstructionEmitter<'_> {
    /// The placement of a part of a feature whose element (0, 0, 0) is row `row` and channel `channel` of the feature.
    fn placed(&self, id: FeatureId, part: SramRegion, row: usize, channel: usize) -> Feature {
        let info = &self.net.features[id];
        match part {
            SramRegion::Whole => {
                let at = self.net.place(id);
                let base = self.residency.places[at.whole].unwrap_or(0);
                at.placed(self.net.features[at.whole].placed(base, 0), row, channel)
            }
            SramRegion::Tile { stream, row: first_row, channel: first, channels } => {
                let tile = tile_of(info, 1, channels);
                tile.placed(self.steps.streams[stream].place + (row - first_row) * tile.pitch(), channel - first)
            }
        }
    }

    /// The first accumulator of a step: halves take turns.
    fn accumulators(&self, step: &TileStep) -> u32 {
        let half = self.machine.accumulators / 2 / self.machine.kernels * self.machine.kernels;
        (step.slot % 2) as u32 * half
    }

    /// The instructions of a step before its requantization: the convolution and the taps for zero points, or moves.
    fn first(&self, step: &TileStep) -> Vec<NpuInst> {
        let tiling = &self.residency.tilings[step.layer].0;
        let layer = &self.net.layers[step.layer];
        let shape = LayerShape::new(self.net, layer, self.machine);
        if tiling.moved {
            let from = self.placed(layer.input, step.input, step.row, step.kernel);
            let to = self.placed(layer.output, step.output, step.row, step.kernel);
            let extents = [step.rows, shape.output.width, shape.copied_channels(step.kernel, step.kernels)];
            return moves([from, to], extents).unwrap_or_default().into_iter().map(NpuInst::Move).collect();
        }
        let conv = self.conv(step);
        let base = self.steps.streams[step.constants].place + shape.constant_bytes(tiling, step.constants_kernels);
        let tap = |(i, tap): (usize, ZeroTap)| Conv {
            weights: shape.tap_weights(base + i * shape.tap_bytes()),
            signed_weights: tap.signed,
            accumulate: true,
            ..conv
        };
        let all = [conv].into_iter().chain(shape.zero_taps().enumerate().map(tap));
        all.map(|conv| if layer.depthwise { NpuInst::DwConv(conv) } else { NpuInst::Conv(conv) }).collect()
    }

    fn conv(&self, step: &TileStep) -> Conv {
        let layer = &self.net.layers[step.layer];
        let shape = LayerShape::new(self.net, layer, self.machine);
        let constants = self.steps.streams[step.constants].place;
        let first = shape.input_rows(step.row, step.rows).0;
        let tiling = &self.residency.tilings[step.layer].0;
        let mut conv = Conv {
            feature: self.placed(layer.input, step.input, first, if layer.depthwise { step.kernel } else { 0 }),
            weights: shape.constant_weights(tiling, constants, step.constants_kernels),
            acc: self.accumulators(step),
            ..shape.convolution(step.row, step.rows, step.kernel, step.kernels)
        };
        if layer.folded > 0 {
            conv.feature.col = layer.folded as u32;
        }
        match layer.weights {
            Weights::Constant(_) => {}
            Weights::Channels(id) => {
                let weights = self.placed(id, step.weights, 0, step.kernel);
                conv.weights = self.lanes(weights.base, weights.tile_c, weights.chan);
            }
            Weights::Columns(id) | Weights::Transposed(id) => {
                let base = self.placed(id, step.weights, 0, 0).base as usize;
                conv.weights = shape.matrix(base, step.kernel).unwrap_or(conv.weights);
            }
            Weights::Elements(id) => {
                let line = self.machine.depth;
                let [a, b] = [(layer.input, step.input), (id, step.weights)]
                    .map(|(id, part)| self.placed(id, part, step.row, 0).base + step.kernel as u32);
                conv.feature = element_line(a, line);
                conv.weights = self.lanes(b, line as u16, line);
                (conv.height, conv.width, conv.rows, conv.cols, conv.pad) = (1, 1, 1, 1, [0; 2]);
            }
        }
        conv
    }

    /// Kernels of one element, in blocks of `tile` contiguous bytes.
    fn lanes(&self, base: u32, tile: u16, block: u32) -> npu::Weights {
        npu::Weights { base, tile_w: 1, tile_k: tile, tile_d: 1, ky: 0, kx: 0, kernel: block, depth: 0 }
    }

    /// The placement of the other operand of a sum: its one row and its one column are those of all positions.
    fn summand(&self, id: FeatureId, step: &TileStep, placed: Feature) -> Feature {
        let [other, output] = [id, self.net.layers[step.layer].output].map(|id| &self.net.features[id]);
        let is_repeated = |extent: fn(&FeatureInfo) -> usize| extent(other) == 1 && extent(output) > 1;
        let (rows, columns) = (is_repeated(|f| f.height), is_repeated(|f| f.width));
        let base = if rows { self.placed(id, step.sum, 0, step.kernel).base } else { placed.base };
        let [row, col] = [(rows, placed.row), (columns, placed.col)].map(|(is, stride)| if is { 0 } else { stride });
        Feature { base, row, col, ..placed }
    }

    /// The requantization of a step, if it has one.
    fn post(&self, step: &TileStep) -> Option<NpuInst> {
        let (layer, tiling) = (&self.net.layers[step.layer], &self.residency.tilings[step.layer].0);
        if tiling.moved {
            return None;
        }
        let shape = LayerShape::new(self.net, layer, self.machine);
        let constants = self.steps.streams[step.constants].place as u32;
        let params = constants + shape.weight_bytes(tiling, step.constants_kernels) as u32;
        let is_elements = matches!(layer.weights, Weights::Elements(_));
        let offset = if is_elements { 0 } else { step.kernel - step.constants_kernel } as u32;
        let each = |len: usize, bytes: usize| if len > 1 { bytes as u32 } else { 0 };
        let num = |len: usize| if len > 1 { step.constants_kernels } else { len } as u32;
        let param_stride = each(layer.requantization.len(), PARAMETERS);
        let tables = params + num(layer.requantization.len()) * PARAMETERS as u32;
        let table_stride = each(layer.table.len() / TABLE, TABLE);
        let bytes = |signed: bool| if signed { [-128, 127] } else { [0, 255] };
        let feature = |id: FeatureId, part: SramRegion| match is_elements {
            true => element_line(self.placed(id, part, step.row, 0).base + step.kernel as u32, self.machine.depth),
            false => self.placed(id, part, step.row, step.kernel),
        };
        let residual = layer.sum.map(|sum| Residual {
            feature: self.summand(sum.feature, step, feature(sum.feature, step.sum)),
            zero: sum.zeros[0],
            other_zero: sum.zeros[1],
            scale: sum.scales[0],
            other_scale: sum.scales[1],
            shift: sum.shift,
            signed: self.net.features[sum.feature].signed,
            sum_zero: sum.zero,
            sum_clamp: bytes(sum.signed),
        });
        let (rows, cols, kernels) = match is_elements {
            true => (1, 1, step.kernels),
            false => (step.rows, shape.output.width, shape.blocks_of_output(step.kernel, step.kernels)),
        };
        Some(NpuInst::Post(Post {
            acc: self.accumulators(step),
            rows: rows as u16,
            cols: cols as u16,
            kernels: kernels as u16,
            params: params + offset * param_stride,
            param_stride,
            zero: layer.zero,
            clamp: bytes(layer.signed),
            residual,
            table: (!layer.table.is_empty()).then_some(tables + offset * table_stride),
            table_stride,
            output: feature(layer.output, step.output),
        }))
    }
}

/// Contiguous bytes as the channels of one position.
fn element_line(base: u32, lanes: u32) -> Feature {
    Feature { base, tile_w: 1, tile_c: lanes as u16, row: 0, col: 0, chan: lanes }
}
