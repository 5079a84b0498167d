//! Parameters of the machine.

/// Parameters of the machine. Rates are per cycle.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Machine {
    /// Number of clusters, 1 to 32.
    pub clusters: u32,
    /// Cores per cluster.
    pub cores: u32,
    /// Bytes of the memory of a cluster, its scratchpad (SPM).
    pub spm: u32,
    /// Bytes of it for code, stacks and records, which buffers do not use.
    pub reserved: u32,
    /// Bytes per cycle between a core and the memory of its cluster.
    pub port: u32,
    /// Products of f32 per cycle and core.
    pub f32_products: u32,
    /// Products of f16 per cycle and core.
    pub f16_products: u32,
    /// Products of 8-bit integers per cycle and core.
    pub int8_products: u32,
    /// Input channels per group from which on convolutions reach `wide_share`.
    pub wide: u32,
    /// Percentage of the peak at `wide` channels and more.
    pub wide_share: u32,
    /// Input channels per group from which on convolutions reach `medium_share`.
    pub medium: u32,
    /// Percentage of the peak from `medium` channels on.
    pub medium_share: u32,
    /// Percentage of the peak with fewer channels.
    pub narrow_share: u32,
    /// Cycles to start a compute task.
    pub task: u32,
    /// Bytes per cycle from and to DDR, of all clusters together.
    pub ddr_rate: u32,
    /// Cycles until the first byte from DDR, and until a write is complete.
    pub ddr_latency: u32,
    /// Bytes per cycle into a cluster and out of it.
    pub noc_rate: u32,
    /// Cycles from a cluster to another.
    pub noc_latency: u32,
    /// Cycles to issue a transfer or a notification.
    pub post: u32,
    /// Cycles of a wait whose event has already been counted.
    pub wait: u32,
    /// Alignment of buffers in bytes, a power of two.
    pub alignment: u32,
    /// Bytes of parameters from which on they are read in slices.
    pub slice: u32,
}

impl Default for Machine {
    fn default() -> Machine {
        Machine {
            clusters: 5,
            cores: 16,
            spm: 4 << 20,
            reserved: 256 << 10,
            port: 32,
            f32_products: 8,
            f16_products: 64,
            int8_products: 128,
            wide: 128,
            wide_share: 75,
            medium: 32,
            medium_share: 65,
            narrow_share: 50,
            task: 300,
            ddr_rate: 24,
            ddr_latency: 250,
            noc_rate: 32,
            noc_latency: 60,
            post: 20,
            wait: 40,
            alignment: 32,
            slice: 350_000,
        }
    }
}
