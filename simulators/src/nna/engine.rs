//! The convolution engine: feature RAMs, kernels and result blocks with their values.
//!
//! Products are computed in 32-bit floats: the sum of the 288 products of a window is less than 2^24, so it is exact, and floats
//! take one instruction to multiply where integers take several.

use super::machine::{CHANNELS, KERNEL, NnaMachine, ROWS, TAPS, VECTOR};
use super::memory::VectorRegister;
use std::sync::{Arc, OnceLock};

/// Largest number of outputs of a step.
const OUTPUTS: usize = 8;
/// Pixels of a feature RAM.
const PIXELS: usize = ROWS * 2 * OUTPUTS;
/// Factors of an output.
const WINDOW: usize = TAPS * CHANNELS;
/// 32-bit lanes of a vector register.
const LANES: usize = VECTOR / 4;

/// A feature RAM: `[3, row, 32]`.
#[derive(Clone)]
pub struct Fram {
    pixels: [[u8; CHANNELS]; PIXELS],
    /// A bit for each pixel that has poison bytes.
    poison: u64,
    /// Cycle from which each pixel is visible.
    visible: [u64; PIXELS],
}

/// A kernel: `[9 taps, 32 output channels, 32 input channels]`.
pub struct Kernel {
    bytes: [u8; KERNEL],
    /// The weights of all output channels for each factor of an output, since the last write.
    weights: OnceLock<Vec<[f32; CHANNELS]>>,
    /// A bit for each output channel whose weights at a tap have poison bytes.
    poison: [u32; TAPS],
    /// Cycle from which the weights of pairs of output channels are visible, in the order of the bytes.
    visible: Vec<u64>,
}

impl Fram {
    /// Returns a feature RAM of poison.
    pub fn new(fill: u8) -> Fram {
        Fram { pixels: [[fill; CHANNELS]; PIXELS], poison: u64::MAX, visible: [0; PIXELS] }
    }

    /// Writes a pixel, whose bytes are half of a register.
    pub fn write(&mut self, pixel: usize, src: &VectorRegister, half: usize, visible: u64) {
        let bytes = &src.bytes[half * CHANNELS..][..CHANNELS];
        self.pixels[pixel].copy_from_slice(bytes);
        let is_poison = (src.poison >> (half * CHANNELS)) as u32 != 0;
        self.poison = self.poison & !(1 << pixel) | u64::from(is_poison) << pixel;
        self.visible[pixel] = visible;
    }

    /// Marks the pixels that are not visible in a cycle as poison.
    fn hide(&mut self, now: u64) {
        let hidden = (0..PIXELS).filter(|&i| self.visible[i] > now);
        self.poison |= hidden.fold(0, |set, i| set | 1 << i);
    }
}

impl Kernel {
    /// Returns a kernel of poison.
    pub fn new(fill: u8) -> Kernel {
        Kernel {
            bytes: [fill; KERNEL],
            weights: OnceLock::new(),
            poison: [u32::MAX; TAPS],
            visible: vec![0; KERNEL / VECTOR],
        }
    }

    /// Writes the bytes at `position`, a multiple of 64: the weights of two output channels at a tap.
    pub fn write(&mut self, position: usize, src: &VectorRegister, visible: u64) {
        let (tap, first) = (position / (CHANNELS * CHANNELS), position / CHANNELS % CHANNELS);
        self.bytes[position..][..VECTOR].copy_from_slice(&src.bytes);
        self.weights.take();
        for half in 0..2 {
            let is_poison = (src.poison >> (half * CHANNELS)) as u32 != 0;
            let channel = 1 << (first + half);
            self.poison[tap] = self.poison[tap] & !channel | if is_poison { channel } else { 0 };
        }
        self.visible[position / VECTOR] = visible;
    }

    /// Returns the weights of all output channels for each factor of an output.
    fn weights(&self) -> &[[f32; CHANNELS]] {
        self.weights.get_or_init(|| {
            let mut weights = vec![[0.0; CHANNELS]; WINDOW];
            for (row, bytes) in self.bytes.chunks_exact(CHANNELS).enumerate() {
                let (tap, channel) = (row / CHANNELS, row % CHANNELS);
                let of_tap = &mut weights[tap * CHANNELS..][..CHANNELS];
                of_tap.iter_mut().zip(bytes).for_each(|(to, &byte)| to[channel] = f32::from(byte as i8));
            }
            weights
        })
    }

    /// Marks the weights that are not visible in a cycle as poison.
    fn hide(&mut self, now: u64) {
        for i in (0..KERNEL / VECTOR).filter(|&i| self.visible[i] > now) {
            self.poison[i / (CHANNELS / 2)] |= 3 << (i % (CHANNELS / 2) * 2);
        }
    }
}

impl Clone for Kernel {
    /// Copies a kernel in order to write to it, so that its decoded weights are not copied.
    fn clone(&self) -> Kernel {
        let (poison, visible) = (self.poison, self.visible.clone());
        Kernel { bytes: self.bytes, weights: OnceLock::new(), poison, visible }
    }
}

/// A result block: the operands of its convolution, and the outputs that were read so far. Outputs are computed when they are
/// read, since with stride 2 every other one covers two patches and is never read.
#[derive(Clone)]
pub struct ResultBlock {
    fram: Fram,
    kernel: Arc<Kernel>,
    stride: usize,
    mask: u32,
    row: usize,
    outputs: [Option<Output>; OUTPUTS],
    /// Whether the operands changed while they were read, so that all outputs are poison.
    pub is_spoilt: bool,
}

/// The channels of an output, and a bit for each that is poison.
#[derive(Clone, Copy)]
struct Output {
    channels: [i32; CHANNELS],
    poison: u32,
}

impl ResultBlock {
    /// Returns a block of poison.
    pub fn new(fram: Fram, kernel: Arc<Kernel>) -> ResultBlock {
        ResultBlock { fram, kernel, stride: 1, mask: 0, row: 0, outputs: [None; OUTPUTS], is_spoilt: true }
    }

    /// Starts a convolution: latches operands and configuration.
    pub fn start(&mut self, fram: &Fram, kernel: &Arc<Kernel>, stride: usize, mask: u32, machine: &NnaMachine) {
        self.fram.clone_from(fram);
        self.kernel.clone_from(kernel);
        (self.stride, self.mask, self.row) = (stride, mask, machine.row());
        (self.outputs, self.is_spoilt) = ([None; OUTPUTS], false);
    }

    /// Replaces operands that are not visible in a cycle by poison.
    pub fn hide(&mut self, now: u64) {
        self.fram.hide(now);
        if self.kernel.visible.iter().any(|&visible| visible > now) {
            Arc::make_mut(&mut self.kernel).hide(now);
        }
    }

    /// Reads sixteen channels of an output.
    pub fn read(&mut self, pixel: usize, half: usize, fill: u8) -> VectorRegister {
        if self.is_spoilt {
            return VectorRegister::poison(fill);
        }
        let output = match self.outputs[pixel] {
            Some(output) => output,
            None => *self.outputs[pixel].insert(self.compute(pixel)),
        };
        let mut lanes = [0; LANES];
        lanes.copy_from_slice(&output.channels[half * LANES..][..LANES]);
        let mut vector = VectorRegister::of_lanes(&lanes);
        for lane in (0..LANES).filter(|lane| output.poison >> (half * LANES + lane) & 1 != 0) {
            vector.poison |= 15 << (4 * lane);
            vector.bytes[4 * lane..][..4].fill(fill);
        }
        vector
    }

    /// Computes an output: the products of the window at `pixel * stride` whose taps are not masked; columns beyond the row
    /// are zero.
    fn compute(&self, pixel: usize) -> Output {
        let mut window = [0_u8; WINDOW];
        let (mut all, mut poison) = (false, 0);
        for tap in (0..TAPS).filter(|tap| self.mask >> tap & 1 != 0) {
            poison |= self.kernel.poison[tap];
            let column = pixel * self.stride + tap % 3;
            if column < self.row {
                let at = tap / 3 * self.row + column;
                all |= self.fram.poison >> at & 1 != 0;
                window[tap * CHANNELS..][..CHANNELS].copy_from_slice(&self.fram.pixels[at]);
            }
        }
        let channels = products(&window, self.kernel.weights());
        Output { channels, poison: if all { u32::MAX } else { poison } }
    }
}

/// Returns the sums of products of a window with the weights of all output channels.
fn products(window: &[u8; WINDOW], weights: &[[f32; CHANNELS]]) -> [i32; CHANNELS] {
    let mut values = [0.0_f32; WINDOW];
    values.iter_mut().zip(window).for_each(|(to, &byte)| *to = f32::from(byte as i8));
    let mut sums = [0.0_f32; CHANNELS];
    for (value, weights) in values.iter().zip(weights) {
        for i in 0..CHANNELS {
            sums[i] += value * weights[i];
        }
    }
    sums.map(|sum| sum as i32)
}
