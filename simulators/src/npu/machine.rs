//! The parameters of the machine.

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

/// The parameters of the machine. The defaults are those of a machine of 256 MACs per cycle.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct NpuMachine {
    /// Kernels in parallel, 1 to 256; also channels of `dwconv`, and accumulators that are consecutive.
    pub kernels: u32,
    /// Depth values in parallel, 1 to 256.
    pub depth: u32,
    /// Output positions in parallel, 1 to 256.
    pub positions: u32,
    /// Bytes of SRAM, at most 2^27.
    pub sram_bytes: u32,
    /// Banks of SRAM, a power of 2, at most [`MAX_BANKS`].
    pub banks: u32,
    /// Bytes of a word of SRAM, a power of 2, 8 to 1024. Word `w` is in bank `w % banks`.
    pub word_bytes: u32,
    /// Number of accumulators of 32 bits, at most 2^24.
    pub accumulators: u32,
    /// Bits of a weight in the array: 8, or 9 to subtract a zero point.
    pub weight_bits: u32,
    /// Values per cycle of the pipe.
    pub post_width: u32,
    /// Cycles from the last value into the pipe to its result.
    pub post_latency: u32,
    /// Cycles to start `conv` and `dwconv`.
    pub start: u32,
    /// Cycles to start `move`.
    pub move_start: u32,
    /// Bytes per 4 cycles of the DMA channel.
    pub ddr_rate: u32,
    /// Cycles from the last byte of a load on the channel to its completion.
    pub read_latency: u32,
    /// Cycles from the last byte of a store on the channel to its completion.
    pub write_latency: u32,
    /// Bytes of a burst, the unit and the alignment of DDR accesses; a power of 2.
    pub burst: u32,
    /// Capacity of the queue of loads, in instructions.
    pub load_queue: u32,
    /// Capacity of the queue of stores.
    pub store_queue: u32,
    /// Capacity of the queue of the other units.
    pub execute_queue: u32,
    /// The response to hazards.
    pub interlock: Interlock,
}

impl Default for NpuMachine {
    fn default() -> NpuMachine {
        NpuMachine {
            kernels: 8,
            depth: 8,
            positions: 4,
            sram_bytes: 512 << 10,
            banks: 4,
            word_bytes: 64,
            accumulators: 16_384,
            weight_bits: 9,
            post_width: 16,
            post_latency: 8,
            start: 16,
            move_start: 4,
            ddr_rate: 15,
            read_latency: 500,
            write_latency: 250,
            burst: 128,
            load_queue: 8,
            store_queue: 2,
            execute_queue: 8,
            interlock: Interlock::Reject,
        }
    }
}

impl NpuMachine {
    /// Returns the multiplications per cycle of the array.
    pub fn macs(&self) -> u64 {
        u64::from(self.kernels) * u64::from(self.depth) * u64::from(self.positions)
    }

    /// Checks that each parameter is in its range.
    ///
    /// # Errors
    /// The first parameter that is out of range, with its range.
    pub fn check(&self) -> Result<(), &'static str> {
        let up_to = |value: u32, max: u32| (1..=max).contains(&value);
        let rules = [
            (up_to(self.kernels, 256), "kernels: 1 to 256"),
            (up_to(self.depth, 256), "depth: 1 to 256"),
            (up_to(self.positions, 256), "positions: 1 to 256"),
            (up_to(self.sram_bytes, 1 << 27), "sram_bytes: 1 to 2^27"),
            (up_to(self.banks, MAX_BANKS as u32) && self.banks.is_power_of_two(), "banks: a power of 2 up to 32"),
            (
                (8..=1024).contains(&self.word_bytes) && self.word_bytes.is_power_of_two(),
                "word_bytes: a power of 2, 8 to 1024",
            ),
            (up_to(self.accumulators, 1 << 24), "accumulators: 1 to 2^24"),
            (matches!(self.weight_bits, 8 | 9), "weight_bits: 8 or 9"),
            (up_to(self.post_width, 4096), "post_width: 1 to 4096"),
            (self.post_latency < 1 << 20 && self.start < 1 << 20 && self.move_start < 1 << 20, "latencies: below 2^20"),
            (up_to(self.ddr_rate, 1 << 20), "ddr_rate: 1 to 2^20"),
            (self.read_latency < 1 << 20 && self.write_latency < 1 << 20, "latencies: below 2^20"),
            (up_to(self.burst, 1 << 16) && self.burst.is_power_of_two(), "burst: a power of 2 up to 2^16"),
            (
                [self.load_queue, self.store_queue, self.execute_queue].into_iter().all(|q| up_to(q, 1 << 16)),
                "queues: 1 to 2^16",
            ),
        ];
        rules.iter().find(|(holds, _)| !holds).map_or(Ok(()), |(_, rule)| Err(rule))
    }

    /// Returns the parameters with their names, in the order of the declaration, without the interlock.
    pub fn parameters(&mut self) -> [(&'static str, &mut u32); 19] {
        [
            ("kernels", &mut self.kernels),
            ("depth", &mut self.depth),
            ("positions", &mut self.positions),
            ("sram_bytes", &mut self.sram_bytes),
            ("banks", &mut self.banks),
            ("word_bytes", &mut self.word_bytes),
            ("accumulators", &mut self.accumulators),
            ("weight_bits", &mut self.weight_bits),
            ("post_width", &mut self.post_width),
            ("post_latency", &mut self.post_latency),
            ("start", &mut self.start),
            ("move_start", &mut self.move_start),
            ("ddr_rate", &mut self.ddr_rate),
            ("read_latency", &mut self.read_latency),
            ("write_latency", &mut self.write_latency),
            ("burst", &mut self.burst),
            ("load_queue", &mut self.load_queue),
            ("store_queue", &mut self.store_queue),
            ("execute_queue", &mut self.execute_queue),
        ]
    }

    /// Returns the hash of the parameters (FNV-1a of the values in the order of the declaration), which a binary carries.
    pub fn hash(&self) -> u64 {
        let mut machine = self.clone();
        let interlock = machine.interlock as u32;
        let values = machine.parameters().map(|(_, value)| *value);
        let bytes = values.into_iter().chain([interlock]).flat_map(u32::to_le_bytes);
        bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3))
    }
}
