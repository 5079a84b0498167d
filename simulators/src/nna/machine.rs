//! Parameters of the machine.

use crate::machine::{machine, powers};

/// Channels of a pixel.
pub const CHANNELS: usize = 32;
/// Taps of a kernel, in row-major order.
pub const TAPS: usize = 9;
/// Rows of a feature RAM.
pub const ROWS: usize = 3;
/// Bytes of a vector register: two pixels.
pub const VECTOR: usize = 64;
/// Bytes of a kernel: `[9 taps, 32 output channels, 32 input channels]`.
pub const KERNEL: usize = TAPS * CHANNELS * CHANNELS;
/// Largest reduction extent of which the sum of products of bytes fits in 32 bits.
pub const MAX_DEPTH: usize = 131_071;
/// Number of vector registers and of scalar registers.
pub const NUM_REGISTERS: usize = 32;

machine! {
    /// The parameters of the machine, the numbers of its description: sizes and latencies.
    #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
    NnaMachine, "nna.toml";
    outputs: powers(MIN_OUTPUTS..=8),
    kernels: 1..=2,
    frams: 1..=2,
    memory: 1..=1 << 30,
    load: 0..=MAX_LATENCY,
    add: 0..=MAX_LATENCY,
    requantize: 0..=MAX_LATENCY,
    scalar: 0..=MAX_LATENCY,
    multiply: 0..=MAX_LATENCY,
    branch: 0..=MAX_LATENCY,
    write: 0..=MAX_LATENCY,
    read: 0..=MAX_LATENCY,
    config: 0..=MAX_LATENCY,
    block: 0..=MAX_LATENCY,
    fill: 0..=MAX_LATENCY,
}

/// Outputs of a step of the smallest machine.
const MIN_OUTPUTS: u32 = 4;

/// Largest latency, in cycles.
const MAX_LATENCY: u32 = 10_000;

impl NnaMachine {
    /// Engine version 1, the smallest machine: four outputs per step.
    pub const V1: NnaMachine = NnaMachine { outputs: MIN_OUTPUTS, ..NnaMachine::DEFAULT };

    /// Returns the cycles of a step of the array.
    pub fn step(&self) -> u64 {
        u64::from(self.block) + u64::from(self.fill)
    }

    /// Returns the pixels of a row of a feature RAM.
    pub fn row(&self) -> usize {
        2 * self.outputs as usize
    }

    /// Returns the patches of a step, which are 3x3 pixels and stand four pixels apart.
    pub fn patches(&self) -> usize {
        self.outputs as usize / 2
    }

    /// Returns the products that the array computes in a cycle, filling aside.
    pub fn peak(&self) -> u64 {
        let block = u64::from(self.block.max(1));
        (TAPS * CHANNELS * CHANNELS) as u64 * u64::from(self.outputs) / block
    }
}

/// The machine with the price of its host, by which programs are chosen.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PricedMachine {
    /// The machine.
    pub machine: NnaMachine,
    /// Cycles for an element that the host moves or computes: the number `host_element` of the description.
    pub host_element: u64,
}

impl PricedMachine {
    /// Reads the machine and the price from the description that returns the value of a name.
    ///
    /// # Errors
    /// A value is missing or out of range.
    pub fn of(value: &dyn Fn(&'static str) -> Result<u64, String>) -> Result<PricedMachine, String> {
        Ok(PricedMachine { machine: NnaMachine::of(value)?, host_element: value("host_element")? })
    }
}

/// The treatment of hazards.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Interlock {
    /// An instruction waits until its hazard is over.
    Stall,
    /// A program is rejected at an instruction that no `nnsync` separates from the other one of the pair.
    Reject,
    /// Nothing is detected: data in flight are poison, and configuration is stale.
    Absent,
}
