//! Parameters of the machine.

use crate::machine::{machine, powers};

/// Largest number of clusters: the bits of a mask.
pub const MAX_CLUSTERS: usize = 32;

machine! {
    /// Parameters of the machine, the numbers of its description:
    #[derive(Clone, PartialEq, Eq, Debug)]
    ClusterMachine, "cluster.toml";
    clusters: 1..=MAX_CLUSTERS as u32,
    cores: 1..=1024,
    spm: 1..=1 << 27,
    reserved: 0..=spm,
    port: 1..=4096,
    f32_products: 1..=1 << 16,
    f16_products: 1..=1 << 16,
    int8_products: 1..=1 << 16,
    wide: 0..=u32::MAX,
    wide_share: 1..=100,
    medium: 0..=wide,
    medium_share: 1..=100,
    narrow_share: 1..=100,
    task: 0..=MAX_LATENCY,
    ddr_rate: 1..=1 << 20,
    ddr_latency: 0..=MAX_LATENCY,
    noc_rate: 1..=1 << 20,
    noc_latency: 0..=MAX_LATENCY,
    post: 0..=MAX_LATENCY,
    wait: 0..=MAX_LATENCY,
    alignment: powers(1..=4096),
    slice: 0..=u32::MAX,
}

/// Largest latency, in cycles.
const MAX_LATENCY: u32 = (1 << 20) - 1;

impl ClusterMachine {
    /// Returns the bytes of a cluster's memory for buffers.
    pub fn buffer_bytes(&self) -> u32 {
        self.spm.saturating_sub(self.reserved)
    }
}
