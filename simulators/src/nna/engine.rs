//! The convolution engine: feature RAMs, kernels and result blocks with their values.

use super::machine::{CHANNELS, KERNEL, Machine, ROWS, TAPS, VECTOR};
use super::memory::Vector;
use std::sync::Arc;

/// Largest number of outputs of a step.
const OUTPUTS: usize = 8;
/// Pixels of a feature RAM.
const PIXELS: usize = ROWS * 2 * OUTPUTS;
/// Factors of an output.
const WINDOW: usize = TAPS * CHANNELS;
/// 32-bit lanes of a vector register.
const LANES: usize = VECTOR / 4;

/// A feature RAM: `[3, row, 32]`, widened to 16 bits.
#[derive(Clone)]
pub struct Fram {
    pixels: [[i16; CHANNELS]; PIXELS],
    /// A bit for each pixel that has poison bytes.
    poison: u64,
    /// Cycle from which each pixel is visible.
    visible: [u64; PIXELS],
}

/// A kernel: `[32 output channels, 9 taps, 32 input channels]`, widened to 16 bits.
#[derive(Clone)]
pub struct Kernel {
    weights: Vec<[i16; WINDOW]>,
    /// A bit for each output channel whose weights at a tap have poison bytes.
    poison: [u32; TAPS],
    /// Cycle from which the weights of pairs of output channels are visible, in the order of the bytes.
    visible: Vec<u64>,
}

impl Fram {
    /// Returns a feature RAM of poison.
    pub fn new(fill: u8) -> Fram {
        Fram { pixels: [[i16::from(fill as i8); CHANNELS]; PIXELS], poison: u64::MAX, visible: [0; PIXELS] }
    }

    /// Writes a pixel, whose bytes are half of a register.
    pub fn write(&mut self, pixel: usize, src: &Vector, half: usize, visible: u64) {
        let bytes = &src.bytes[half * CHANNELS..][..CHANNELS];
        self.pixels[pixel].iter_mut().zip(bytes).for_each(|(to, &byte)| *to = i16::from(byte as i8));
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
            weights: vec![[i16::from(fill as i8); WINDOW]; CHANNELS],
            poison: [u32::MAX; TAPS],
            visible: vec![0; KERNEL / VECTOR],
        }
    }

    /// Writes the bytes at `position`, a multiple of 64: the weights of two output channels at a tap.
    pub fn write(&mut self, position: usize, src: &Vector, visible: u64) {
        let (tap, first) = (position / (CHANNELS * CHANNELS), position / CHANNELS % CHANNELS);
        for half in 0..2 {
            let (channel, bytes) = (first + half, &src.bytes[half * CHANNELS..][..CHANNELS]);
            let weights = &mut self.weights[channel][tap * CHANNELS..][..CHANNELS];
            weights.iter_mut().zip(bytes).for_each(|(to, &byte)| *to = i16::from(byte as i8));
            let is_poison = (src.poison >> (half * CHANNELS)) as u32 != 0;
            self.poison[tap] = self.poison[tap] & !(1 << channel) | u32::from(is_poison) << channel;
        }
        self.visible[position / VECTOR] = visible;
    }

    /// Marks the weights that are not visible in a cycle as poison.
    fn hide(&mut self, now: u64) {
        for i in (0..KERNEL / VECTOR).filter(|&i| self.visible[i] > now) {
            self.poison[i / (CHANNELS / 2)] |= 3 << (i % (CHANNELS / 2) * 2);
        }
    }
}

/// A result block: the operands of its convolution, and the outputs that were read so far. Outputs are computed when they are
/// read: every other one of a step with stride 2 is no patch, and nobody reads it.
#[derive(Clone)]
pub struct Block {
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

impl Block {
    /// Returns a block of poison.
    pub fn new(fram: Fram, kernel: Arc<Kernel>) -> Block {
        Block { fram, kernel, stride: 1, mask: 0, row: 0, outputs: [None; OUTPUTS], is_spoilt: true }
    }

    /// Starts a convolution: latches operands and configuration.
    pub fn start(&mut self, fram: &Fram, kernel: &Arc<Kernel>, stride: usize, mask: u32, machine: &Machine) {
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
    pub fn read(&mut self, pixel: usize, half: usize, fill: u8) -> Vector {
        if self.is_spoilt {
            return Vector::poison(fill);
        }
        let output = match self.outputs[pixel] {
            Some(output) => output,
            None => *self.outputs[pixel].insert(self.compute(pixel)),
        };
        let mut lanes = [0; LANES];
        lanes.copy_from_slice(&output.channels[half * LANES..][..LANES]);
        let mut vector = Vector::of_lanes(&lanes);
        for lane in (0..LANES).filter(|lane| output.poison >> (half * LANES + lane) & 1 != 0) {
            vector.poison |= 15 << (4 * lane);
            vector.bytes[4 * lane..][..4].fill(fill);
        }
        vector
    }

    /// Computes an output: the products of the window at `pixel * stride` whose taps are not masked; columns beyond the row
    /// are zero.
    fn compute(&self, pixel: usize) -> Output {
        let mut window = [0_i16; WINDOW];
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
        let mut channels = [0; CHANNELS];
        channels.iter_mut().zip(&self.kernel.weights).for_each(|(sum, weights)| *sum = dot(&window, weights));
        Output { channels, poison: if all { u32::MAX } else { poison } }
    }
}

/// Returns the sum of products, in the form that is compiled to multiply-add instructions.
fn dot(a: &[i16; WINDOW], b: &[i16; WINDOW]) -> i32 {
    a.iter().zip(b).map(|(&a, &b)| i32::from(a) * i32::from(b)).sum()
}
