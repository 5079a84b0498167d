//! The parameters of the machine.

use crate::machine::{machine, powers};

/// Largest number of banks.
pub const MAX_BANKS: usize = 32;

/// The response to a hazard between units that no token orders.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Interlock {
    /// The later instruction waits for the earlier one.
    Stall,
    /// The program is rejected.
    #[default]
    Reject,
}

machine! {
    /// The parameters of the machine, the numbers of its description:
    #[derive(Clone, PartialEq, Eq, Hash, Debug)]
    NpuMachine, "npu.toml";
    kernels: 1..=256,
    depth: 1..=256,
    positions: 1..=256,
    sram_bytes: 1..=1 << 27,
    banks: powers(1..=MAX_BANKS as u32),
    word_bytes: powers(8..=1024),
    accumulators: 1..=1 << 24,
    weight_bits: 8..=9,
    post_width: 1..=4096,
    post_latency: 0..=MAX_LATENCY,
    start: 0..=MAX_LATENCY,
    move_start: 0..=MAX_LATENCY,
    ddr_rate: 1..=1 << 20,
    read_latency: 0..=MAX_LATENCY,
    write_latency: 0..=MAX_LATENCY,
    burst: powers(1..=1 << 16),
    load_queue: 1..=1 << 16,
    store_queue: 1..=1 << 16,
    execute_queue: 1..=1 << 16,
    ;
    /// The response to hazards.
    interlock: Interlock = Interlock::Reject
}

/// Largest latency, in cycles.
const MAX_LATENCY: u32 = (1 << 20) - 1;

impl NpuMachine {
    /// Returns the multiplications per cycle of the array.
    pub fn macs(&self) -> u64 {
        u64::from(self.kernels) * u64::from(self.depth) * u64::from(self.positions)
    }
}
