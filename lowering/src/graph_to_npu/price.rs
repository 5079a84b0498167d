//! The cycles of a layer's instructions, by the cost function of the simulator.
//!
//! A convolution is priced for two numbers of kernels; the cycles of others are on the line through them, since each block of kernels
//! reads the same feature. Tiles of equal rows are priced once, in the middle of the layer.

use super::network::Weights as LayerWeights;
use super::shape::{LayerShape, Tiling};
use super::weight_mode::WeightMode;
use gradus_simulators::npu::{Conv, NpuInst, NpuMachine, Post, Residual, Transfer, Weights, cost};
use rustc_hash::FxHashMap;

impl LayerShape<'_> {
    /// The convolution of rows and kernels, without its placements.
    pub fn convolution(&self, row: usize, rows: usize, kernel: usize, kernels: usize) -> Conv {
        let layer = self.layer;
        let (_, height, pad) = self.input_rows(row, rows);
        // A depthwise convolution reads the channels that exist; kernels of others are padded.
        let is_by_channel = layer.depthwise && !matches!(layer.weights, LayerWeights::Elements(_));
        let kernels = match layer.weights {
            // There are no weights for padded channels.
            _ if layer.weights.is_matrix() => kernels.min(layer.kernels - kernel),
            _ if is_by_channel => self.blocks_of_output(kernel, kernels),
            _ => kernels,
        };
        let width = if layer.folded > 0 { self.output.width } else { self.input.width };
        Conv {
            height: height as u16,
            width: width as u16,
            rows: rows as u16,
            cols: self.output.width as u16,
            kernels: kernels as u16,
            depth: layer.depth as u16,
            kernel: layer.kernel.map(|n| n as u16),
            stride: layer.stride.map(|n| n as u16),
            dilation: layer.dilation.map(|n| n as u16),
            pad: [pad as u16, layer.pad[1] as u16],
            pad_value: layer.zeros[0],
            feature_zero: layer.zeros[0],
            weight_zero: if self.machine.weight_bits < 9 { 0 } else { layer.zeros[1] },
            signed_feature: self.input.signed,
            signed_weights: layer.signed_weights,
            ..Conv::default()
        }
    }

    /// The weights from kernel `kernel` on of a matrix whose element (0, 0) is at byte `base`.
    pub fn matrix(&self, base: usize, kernel: usize) -> Option<Weights> {
        let place = self.weights?.placed(base, 0);
        let plain = Weights { base: place.base, tile_w: 1, ..Weights::default() };
        let [columns, channels] = [place.tile_w, place.tile_c];
        match self.layer.weights {
            LayerWeights::Columns(_) => Some(Weights {
                base: plain.base + kernel as u32 / u32::from(columns) * place.col,
                tile_k: columns,
                tile_d: channels,
                kernel: place.col,
                depth: place.chan,
                ..plain
            }),
            LayerWeights::Transposed(_) => Some(Weights {
                base: plain.base + kernel as u32 / u32::from(channels) * place.chan,
                tile_k: channels,
                tile_d: 1,
                kernel: place.chan,
                depth: place.col,
                ..plain
            }),
            _ => None,
        }
    }
}

/// The prices of the tiles of a layer.
#[derive(Default)]
pub struct Prices {
    /// Cycles of the convolution of the first block of kernels and of each further one, by number of rows and mode of weights.
    convolutions: FxHashMap<(usize, Option<WeightMode>), [u64; 2]>,
    /// Cycles of the mover, by rows and kernels.
    moves: FxHashMap<[usize; 2], u64>,
    /// The same of the requantization.
    requantizations: FxHashMap<usize, [u64; 2]>,
}

/// Blocks of kernels of the second price.
const BLOCKS: usize = 5;

impl Prices {
    /// Cycles of the array for a tile, or of the mover.
    pub fn convolution(&mut self, shape: &LayerShape<'_>, tiling: &Tiling, rows: usize, kernels: usize) -> u64 {
        let lanes = shape.machine.kernels as usize;
        if tiling.moved {
            let cycles = || shape.move_cycles(rows, kernels).unwrap_or(u64::from(u32::MAX));
            return *self.moves.entry([rows, kernels]).or_insert_with(cycles);
        }
        if let LayerWeights::Elements(_) = shape.layer.weights {
            let elements = (rows * shape.output.row()).div_ceil(lanes) as u64;
            return (elements + u64::from(shape.machine.start)) * (1 + shape.zero_taps().len() as u64);
        }
        let prices = self.convolutions.entry((rows, tiling.mode)).or_insert_with(|| {
            line(|blocks| {
                // A tile between the first and the last one.
                let row = if shape.output.height > rows { rows.min(shape.output.height - rows) } else { 0 };
                let kernels = blocks * lanes;
                let mut conv = shape.convolution(row, rows, 0, kernels);
                conv.kernels = kernels as u16;
                conv.feature = shape.input.placed(0, 0);
                if shape.layer.folded > 0 {
                    conv.feature.col = shape.layer.folded as u32;
                }
                conv.weights = shape.matrix(0, 0).unwrap_or_else(|| shape.constant_weights(tiling, 0, kernels));
                let taps = shape.zero_taps().map(|_| Conv { weights: shape.tap_weights(0), ..conv });
                let inst = |conv| if shape.layer.depthwise { NpuInst::DwConv(conv) } else { NpuInst::Conv(conv) };
                taps.chain([conv]).map(|conv| cost(shape.machine, &inst(conv)).cycles).sum()
            })
        });
        prices[0] + (kernels / lanes).saturating_sub(1) as u64 * prices[1]
    }

    /// Cycles of the pipe for a tile.
    pub fn requantization(&mut self, shape: &LayerShape<'_>, tiling: &Tiling, rows: usize, kernels: usize) -> u64 {
        let lanes = shape.machine.kernels as usize;
        if tiling.moved {
            return 0;
        }
        let prices = self.requantizations.entry(rows).or_insert_with(|| {
            line(|blocks| {
                let output = shape.output.placed(0, 0);
                let residual = shape.layer.sum.map(|_| Residual { feature: output, ..Residual::default() });
                let [rows, cols, kernels] = [rows, shape.output.width, blocks * lanes].map(|n| n as u16);
                let post = Post { rows, cols, kernels, residual, output, ..Post::default() };
                cost(shape.machine, &NpuInst::Post(post)).cycles
            })
        });
        prices[0] + (kernels / lanes).saturating_sub(1) as u64 * prices[1]
    }
}

/// The price of one block, and the increase by a block.
fn line(price: impl Fn(usize) -> u64) -> [u64; 2] {
    let first = price(1);
    [first, (price(BLOCKS).saturating_sub(first)).div_ceil(BLOCKS as u64 - 1)]
}

/// Cycles on the DMA channel of `count` runs of `run` bytes, `stride` bytes apart in DDR.
pub fn transfer(machine: &NpuMachine, run: usize, count: usize, stride: usize) -> u64 {
    if count == 1 {
        let bytes = run.next_multiple_of(machine.burst as usize) as u64;
        return (bytes * 4).div_ceil(machine.ddr_rate.into());
    }
    let t = Transfer {
        run: run as u32,
        counts: [1, 1, count as u32],
        ddr_strides: [0, 0, stride as u32],
        ..Transfer::default()
    };
    cost(machine, &NpuInst::Store(t)).cycles
}
