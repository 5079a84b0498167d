//! Constant weights of layers as bytes: in their mode, followed by the taps for their zero point.

use super::network::Weights;
use super::shape::{LayerShape, PARAMETERS_ALIGNMENT, Tiling};
use super::weight_mode::{MODES, WeightMode};
use gradus_simulators::npu;

impl LayerShape<'_> {
    /// The mode of the constant weights of a tiling.
    pub fn mode(&self, tiling: &Tiling) -> WeightMode {
        tiling.mode.unwrap_or_else(|| WeightMode::of_multipliers(self.machine, self.layer.depthwise))
    }

    /// The modes of constant weights that may take the fewest cycles: that of the multipliers, of which no other mode needs fewer words,
    /// and those whose bytes are fewer by a part in 64 of the layer's cycles. A mode by force is the only one.
    pub fn modes(&self) -> Vec<Option<WeightMode>> {
        let Weights::Constant(_) = self.layer.weights else { return vec![None] };
        let fits = |mode: &WeightMode| mode.fits(self.machine);
        if let Some(forced) = self.net.weight_mode.filter(fits) {
            return vec![Some(forced)];
        }
        let own = WeightMode::of_multipliers(self.machine, self.layer.depthwise);
        let bytes = |mode: WeightMode| self.bytes_in_mode(mode, self.padded_kernels());
        let array = self.array_cycles(self.output.height) / 64 * self.machine.ddr_rate as usize / 4;
        let is_less = |mode: &WeightMode| bytes(*mode) + array.max(1) <= bytes(own);
        let others = MODES.into_iter().filter(|mode| *mode != own && fits(mode) && is_less(mode));
        others.map(Some).chain([None]).collect()
    }

    /// Blocks of the columns and of the depth of a kernel.
    fn blocks_in_mode(&self, mode: WeightMode) -> [usize; 2] {
        [self.layer.kernel[1].div_ceil(mode.columns.into()), self.layer.depth.div_ceil(mode.depth.into())]
    }

    /// Bytes of the weights of some kernels in a mode.
    fn bytes_in_mode(&self, mode: WeightMode, kernels: usize) -> usize {
        let [columns, depths] = self.blocks_in_mode(mode);
        self.layer.kernel[0] * columns * (kernels / usize::from(mode.kernels)) * depths * mode.block()
    }

    /// Bytes of the constant weights of some kernels, without those of taps for zero points.
    pub fn constant_bytes(&self, tiling: &Tiling, kernels: usize) -> usize {
        match self.layer.weights {
            Weights::Constant(_) if !tiling.moved => self.bytes_in_mode(self.mode(tiling), kernels),
            _ => 0,
        }
    }

    /// The bytes before the parameters of a slice.
    pub fn weight_bytes(&self, tiling: &Tiling, kernels: usize) -> usize {
        let taps = if tiling.moved { 0 } else { self.zero_taps().len() * self.tap_bytes() };
        (self.constant_bytes(tiling, kernels) + taps).next_multiple_of(PARAMETERS_ALIGNMENT)
    }

    /// The weights in a slice of `kernels` kernels at byte `base`.
    pub fn constant_weights(&self, tiling: &Tiling, base: usize, kernels: usize) -> npu::Weights {
        let mode = self.mode(tiling);
        let [columns, depths] = self.blocks_in_mode(mode);
        let (block, column) = (mode.block(), kernels / usize::from(mode.kernels) * depths * mode.block());
        npu::Weights {
            base: base as u32,
            tile_w: mode.columns,
            tile_k: mode.kernels,
            tile_d: mode.depth,
            ky: (columns * column) as u32,
            kx: column as u32,
            kernel: (depths * block) as u32,
            depth: block as u32,
        }
    }

    /// Appends the constant weights of a slice of kernels. Padding has the zero point.
    pub fn write_weights(&self, out: &mut Vec<u8>, tiling: &Tiling, kernel: usize, kernels: usize) {
        let (layer, mode) = (self.layer, self.mode(tiling));
        let Weights::Constant(bytes) = &layer.weights else { return };
        let [columns, depths] = self.blocks_in_mode(mode);
        let [mode_columns, mode_kernels, mode_depth] = mode.extents();
        let zero = layer.zeros[1] as u8;
        let outer = (0..layer.kernel[0]).flat_map(|y| (0..columns).map(move |x| (y, x * mode_columns)));
        for (y, first_column) in outer {
            for first_kernel in (kernel..kernel + kernels).step_by(mode_kernels) {
                for first_depth in (0..depths).map(|block| block * mode_depth) {
                    let columns = first_column..first_column + mode_columns;
                    let kernels = first_kernel..first_kernel + mode_kernels;
                    for (x, k) in columns.flat_map(|x| kernels.clone().map(move |k| (x, k))) {
                        let end = out.len() + mode_depth;
                        if k < layer.kernels && x < layer.kernel[1] {
                            let at = (k * layer.taps() + y * layer.kernel[1] + x) * layer.depth;
                            let last = layer.depth.min(first_depth + mode_depth);
                            out.extend_from_slice(&bytes[at + first_depth..at + last]);
                        }
                        out.resize(end, zero);
                    }
                }
            }
        }
    }
}

/// A tap that subtracts the zero point of weights, which the multiplier does not: `-z * q1` as a convolution by a constant.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ZeroTap {
    /// The weight.
    pub byte: u8,
    /// Whether it is signed.
    pub signed: bool,
}

impl LayerShape<'_> {
    /// The taps whose sum is the negative zero point of the weights, if they have one and the multiplier takes bytes: one, or two if it
    /// is less than -128.
    pub fn zero_taps(&self) -> impl ExactSizeIterator<Item = ZeroTap> + use<> {
        let mut left = if self.machine.weight_bits < 9 { -self.layer.zeros[1] } else { 0 };
        let taps = usize::from(left != 0) + usize::from(left < i16::from(i8::MIN));
        (0..taps).map(move |_| {
            let weight = left.max(i8::MIN.into());
            left -= weight;
            ZeroTap { byte: weight as u8, signed: weight < 0 }
        })
    }

    /// Bytes of a tap for a zero point: the weights that the multipliers read in a cycle.
    pub fn tap_bytes(&self) -> usize {
        WeightMode::of_multipliers(self.machine, self.layer.depthwise).block()
    }

    /// The weights of a tap at byte `base`, the same for all kernels, positions of the window and blocks of depth.
    pub fn tap_weights(&self, base: usize) -> npu::Weights {
        let mode = WeightMode::of_multipliers(self.machine, self.layer.depthwise);
        let WeightMode { columns: tile_w, kernels: tile_k, depth: tile_d } = mode;
        npu::Weights { base: base as u32, tile_w, tile_k, tile_d, ..npu::Weights::default() }
    }
}
