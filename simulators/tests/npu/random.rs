//! Random numbers, placements and memories.

use gradus_simulators::npu::{Conv, Feature, NpuMachine, Weights};

/// A generator of 64 bits (splitmix64).
pub struct Rng(pub u64);

impl Rng {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Returns a number in `low..=high`.
    pub fn range(&mut self, low: u64, high: u64) -> u64 {
        low + self.next() % (high - low + 1)
    }

    pub fn chance(&mut self, percent: u64) -> bool {
        self.next() % 100 < percent
    }

    pub fn pick<T: Copy>(&mut self, list: &[T]) -> T {
        list[(self.next() % list.len() as u64) as usize]
    }

    pub fn bytes(&mut self, n: usize) -> Vec<u8> {
        (0..n).map(|_| self.next() as u8).collect()
    }
}

/// Number of cases of a test: the environment variable, or the default.
pub fn cases(variable: &str, default: u64) -> u64 {
    std::env::var(variable).ok().and_then(|n| n.parse().ok()).unwrap_or(default)
}

/// Tiles of features: HWC, 4W, 8W4C, 4W4C, 8C, 3W5C.
pub const FEATURE_TILES: [(u16, u16); 6] = [(1, 64), (4, 1), (8, 4), (4, 4), (1, 8), (3, 5)];
/// Tiles of weights, `(w, k, d)`: 8K8D, 2K4C, 8W4D, 2W, none, 3W5K7D.
pub const WEIGHT_TILES: [(u16, u16, u16); 6] = [(1, 8, 8), (1, 2, 4), (8, 1, 4), (2, 1, 1), (1, 1, 1), (3, 5, 7)];

/// Places a feature densely at `base`, with a random order of rows and blocks; returns it with its end.
pub fn place_feature(rng: &mut Rng, base: u64, [h, w, c]: [u64; 3]) -> (Feature, u64) {
    let (tile_w, tile_c) = rng.pick(&FEATURE_TILES);
    let block = u64::from(tile_w) * u64::from(tile_c);
    let (cols, chans) = (w.div_ceil(tile_w.into()), c.div_ceil(tile_c.into()));
    let gap = rng.range(0, 3);
    let (row, col, chan, size) = match rng.range(0, 2) {
        // Rows, channels, columns.
        0 => (chans * cols * block + gap, block, cols * block, h * (chans * cols * block + gap)),
        // Rows, columns, channels.
        1 => (chans * cols * block, chans * block, block, h * chans * cols * block),
        // Channels, rows, columns.
        _ => (cols * block, block, h * cols * block, chans * h * cols * block),
    };
    let [row, col, chan] = [row, col, chan].map(|n| n as u32);
    (Feature { base: base as u32, tile_w, tile_c, row, col, chan }, base + size)
}

/// Places weights densely at `base`; returns them with their end.
pub fn place_weights(rng: &mut Rng, base: u64, [ky, kx, k, d]: [u64; 4]) -> (Weights, u64) {
    let (tile_w, tile_k, tile_d) = rng.pick(&WEIGHT_TILES);
    let block = u64::from(tile_w) * u64::from(tile_k) * u64::from(tile_d);
    let (xs, ks) = (kx.div_ceil(tile_w.into()), k.div_ceil(tile_k.into()));
    let ds = d.div_ceil(tile_d.into());
    let extents = [ky, xs, ks, ds];
    let order = rng.pick(&[[0, 1, 2, 3], [2, 0, 1, 3], [0, 2, 3, 1], [3, 2, 1, 0]]);
    let (mut strides, mut stride) = ([0u32; 4], block);
    for &axis in order.iter().rev() {
        strides[axis] = stride as u32;
        stride *= extents[axis];
    }
    let [ky, kx, kernel, depth] = strides;
    (Weights { base: base as u32, tile_w, tile_k, tile_d, ky, kx, kernel, depth }, base + stride)
}

/// Returns a random convolution that fits, with the end of its bytes.
pub fn random_conv(rng: &mut Rng, machine: &NpuMachine, dw: bool) -> (Conv, u64) {
    loop {
        let kernel = [rng.range(1, 4) as u16, rng.range(1, 4) as u16];
        let stride = [rng.range(1, 3) as u16, rng.range(1, 3) as u16];
        let dilation = [rng.range(1, 2) as u16, rng.range(1, 2) as u16];
        let (height, width) = (rng.range(1, 12) as u16, rng.range(1, 12) as u16);
        let pad = [rng.range(0, 3) as u16, rng.range(0, 3) as u16];
        let (kernels, depth) = (rng.range(1, 20) as u16, if dw { 1 } else { rng.range(1, 20) as u16 });
        let (rows, cols) = (rng.range(1, 8) as u16, rng.range(1, 8) as u16);
        let (signed_feature, signed_weights) = (rng.chance(50), rng.chance(50));
        let channels = if dw { kernels } else { depth };
        let base = rng.range(0, 200);
        let (feature, end) = place_feature(rng, base, [height, width, channels].map(u64::from));
        let extents = [kernel[0], kernel[1], kernels, depth].map(u64::from);
        let base = end + rng.range(0, 100);
        let (weights, end) = place_weights(rng, base, extents);
        let byte = |rng: &mut Rng, signed: bool| rng.range(0, 255) as i16 - if signed { 128 } else { 0 };
        let pad_value = byte(rng, signed_feature);
        let feature_zero = if rng.chance(50) { byte(rng, signed_feature) } else { signed_feature.into() };
        let weight_zero = if rng.chance(50) { byte(rng, signed_weights) } else { 0 };
        let conv = Conv {
            feature,
            weights,
            height,
            width,
            rows,
            cols,
            kernels,
            depth,
            kernel,
            stride,
            dilation,
            pad,
            pad_value,
            feature_zero,
            weight_zero,
            signed_feature,
            signed_weights,
            accumulate: false,
            acc: machine.kernels * rng.range(0, 3) as u32,
        };
        if end <= machine.sram_bytes.into() {
            return (conv, end);
        }
    }
}
