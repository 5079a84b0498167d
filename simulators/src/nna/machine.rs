//! Parameters of the machine.

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

/// The machine: sizes and latencies, with the defaults of its description.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct NnaMachine {
    /// Outputs of a step: 4 of engine version 1, 8 of version 2. A row of a feature RAM has twice as many pixels.
    pub outputs: u32,
    /// Kernels in the weight RAM, 1 or 2.
    pub kernels: u32,
    /// Feature RAMs, 1 or 2.
    pub frams: u32,
    /// Bytes of memory.
    pub memory: u32,
    /// Latencies.
    pub latency: Latencies,
}

/// Latencies in cycles.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Latencies {
    /// Load of a register, until its use.
    pub load: u32,
    /// Vector sum.
    pub add: u32,
    /// Vector requantization.
    pub requantize: u32,
    /// Scalar operation, and vector operation on bits.
    pub scalar: u32,
    /// Scalar multiply-accumulate.
    pub multiply: u32,
    /// Cycles lost by a taken branch.
    pub branch: u32,
    /// Write to a feature or weight RAM, until it is visible.
    pub write: u32,
    /// Read of a result block, until its use.
    pub read: u32,
    /// Write to a configuration register, until it takes effect.
    pub config: u32,
    /// Array: cycles of an output block.
    pub block: u32,
    /// Array: cycles to fill and drain.
    pub fill: u32,
}

impl Latencies {
    /// The defaults.
    pub const DEFAULT: Latencies = Latencies {
        load: 4,
        add: 2,
        requantize: 4,
        scalar: 1,
        multiply: 1,
        branch: 1,
        write: 4,
        read: 4,
        config: 2,
        block: 9,
        fill: 8,
    };

    /// Returns the cycles of a step of the array.
    pub fn step(&self) -> u64 {
        u64::from(self.block) + u64::from(self.fill)
    }
}

impl NnaMachine {
    /// Engine version 1: four outputs per step.
    pub const V1: NnaMachine = NnaMachine { outputs: 4, ..NnaMachine::V2 };

    /// Engine version 2: eight outputs per step.
    pub const V2: NnaMachine =
        NnaMachine { outputs: 8, kernels: 2, frams: 2, memory: 64 << 20, latency: Latencies::DEFAULT };

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
        let block = u64::from(self.latency.block.max(1));
        (TAPS * CHANNELS * CHANNELS) as u64 * u64::from(self.outputs) / block
    }

    /// Checks the parameters.
    ///
    /// # Errors
    /// The parameter that no machine has.
    pub fn check(&self) -> Result<(), String> {
        let max = |name: &str, value: u32, range: std::ops::RangeInclusive<u32>| {
            let message = || format!("{name} is {value}, but must be {} to {}", range.start(), range.end());
            if range.contains(&value) { Ok(()) } else { Err(message()) }
        };
        if !matches!(self.outputs, 4 | 8) {
            return Err(format!("outputs is {}, but must be 4 or 8", self.outputs));
        }
        max("kernels", self.kernels, 1..=2)?;
        max("frams", self.frams, 1..=2)?;
        max("memory", self.memory, 1..=1 << 30)?;
        let l = &self.latency;
        let all =
            [l.load, l.add, l.requantize, l.scalar, l.multiply, l.branch, l.write, l.read, l.config, l.block, l.fill];
        all.into_iter().try_for_each(|cycles| max("a latency", cycles, 0..=10_000))
    }
}

macro_rules! numbers {
    ($($size:ident $size_doc:literal,)*; $($latency:ident $doc:literal,)*) => {
        impl NnaMachine {
            /// The numbers that describe a machine: name, meaning, and default.
            pub const NUMBERS: &[(&str, &str, i64)] = &[
                $((stringify!($size), $size_doc, NnaMachine::V2.$size as i64),)*
                $((stringify!($latency), $doc, NnaMachine::V2.latency.$latency as i64)),*
            ];

            /// Returns the numbers, in the order of [`NnaMachine::NUMBERS`].
            pub fn numbers(&self) -> Vec<i64> {
                vec![$(i64::from(self.$size),)* $(i64::from(self.latency.$latency)),*]
            }

            /// Returns the machine of numbers in the order of [`NnaMachine::NUMBERS`].
            ///
            /// # Errors
            /// A number is missing, or no machine has it.
            pub fn from_numbers(numbers: &[i64]) -> Result<NnaMachine, String> {
                if numbers.len() != NnaMachine::NUMBERS.len() {
                    return Err(format!("a machine has {} numbers, not {}", NnaMachine::NUMBERS.len(), numbers.len()));
                }
                let mut machine = NnaMachine::V2;
                let mut all = numbers.iter().map(|&n| u32::try_from(n).map_err(|_| format!("{n} is out of range")));
                let mut next = || all.next().unwrap_or(Ok(0));
                $(machine.$size = next()?;)*
                $(machine.latency.$latency = next()?;)*
                machine.check()?;
                Ok(machine)
            }
        }
    };
}

numbers! {
    outputs "Outputs of a step: 4 or 8",
    kernels "Kernels in the weight RAM: 1 or 2",
    frams "Feature RAMs: 1 or 2",
    memory "Bytes of memory",
    ;
    load "Cycles of a load",
    add "Cycles of a vector sum",
    requantize "Cycles of a vector requantization",
    scalar "Cycles of a scalar operation",
    multiply "Cycles of a scalar multiply-accumulate",
    branch "Cycles lost by a taken branch",
    write "Cycles until a write to a feature or weight RAM is visible",
    read "Cycles of a read of a result block",
    config "Cycles until a write to configuration takes effect",
    block "Cycles of the array for an output block",
    fill "Cycles of the array to fill and drain",
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
