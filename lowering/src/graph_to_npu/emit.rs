//! Instructions of steps, in the order of slots: loads, the convolution of a step, the requantization and the stores of the step
//! before.

use super::network::{FeatureId, FeatureInfo, Network, Weights, tile_of};
use super::order::{self, Ordered};
use super::residency::Residency;
use super::shape::{LayerShape, PARAMETERS, TABLE};
use super::steps::{SramRegion, Steps, TileStep, weight_bytes};
use gradus_simulators::npu::{self, Conv, Feature, NpuInst, NpuMachine, Post, Residual, Transfer};

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
    let mut pending: Option<(usize, NpuInst)> = None;
    let mut next = steps.steps.iter().peekable();
    for slot in 0..steps.slots {
        while let Some((.., part)) = loads.next_if(|&(at, ..)| at == slot) {
            out.push(NpuInst::Load(part), machine);
        }
        if let Some(step) = next.next_if(|step| step.slot == slot) {
            let (conv, post) = (emitter.conv(step), emitter.post(step));
            if let Some((_, post)) = pending.take_if(|(_, post)| order::reads_result(&conv, post, machine)) {
                out.push(post, machine);
            }
            out.push(conv, machine);
            if let Some((_, post)) = pending.replace((slot, post)) {
                out.push(post, machine);
            }
        } else if let Some((_, post)) = pending.take() {
            out.push(post, machine);
        }
        while let Some(stream) = stores.next_if(|&i| steps.streams[i].uses.1 + 1 == slot).map(|i| &steps.streams[i]) {
            let Some(mut transfer) = stream.store else { continue };
            transfer.sram = stream.place as u32;
            out.push(NpuInst::Store(transfer), machine);
        }
    }
    out.finish()
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

    fn conv(&self, step: &TileStep) -> NpuInst {
        let layer = &self.net.layers[step.layer];
        let shape = LayerShape::new(self.net, layer, self.machine);
        let constants = self.steps.streams[step.constants].place;
        let first = shape.input_rows(step.row, step.rows).0;
        let group = (step.kernel - step.constants_kernel) / self.machine.kernels as usize;
        let mut conv = Conv {
            feature: self.placed(layer.input, step.input, first, if layer.depthwise { step.kernel } else { 0 }),
            weights: shape.constant_weights(constants, step.constants_kernels, group),
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
        if layer.depthwise { NpuInst::DwConv(conv) } else { NpuInst::Conv(conv) }
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

    fn post(&self, step: &TileStep) -> NpuInst {
        let layer = &self.net.layers[step.layer];
        let shape = LayerShape::new(self.net, layer, self.machine);
        let constants = self.steps.streams[step.constants].place as u32;
        let params = constants + weight_bytes(&shape, step.constants_kernels, self.machine) as u32;
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
        NpuInst::Post(Post {
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
        })
    }
}

/// Contiguous bytes as the channels of one position.
fn element_line(base: u32, lanes: u32) -> Feature {
    Feature { base, tile_w: 1, tile_c: lanes as u16, row: 0, col: 0, chan: lanes }
}
