//! Parameters of the machine.

/// Parameters of the machine. Rates are per cycle.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ClusterMachine {
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

impl Default for ClusterMachine {
    fn default() -> ClusterMachine {
        ClusterMachine {
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

/// Largest number of clusters: the bits of a mask.
pub const MAX_CLUSTERS: usize = 32;

impl ClusterMachine {
    /// Checks that each parameter is in its range.
    ///
    /// # Errors
    /// The first parameter that is out of range, with its range.
    pub fn check(&self) -> Result<(), &'static str> {
        let up_to = |value: u32, max: u32| (1..=max).contains(&value);
        let share = |value: u32| up_to(value, 100);
        let products = [self.f32_products, self.f16_products, self.int8_products];
        let rules = [
            (up_to(self.clusters, MAX_CLUSTERS as u32), "clusters: 1 to 32"),
            (up_to(self.cores, 1024), "cores: 1 to 1024"),
            (up_to(self.spm, 1 << 27), "spm: 1 to 2^27"),
            (self.reserved <= self.spm, "reserved: at most spm"),
            (up_to(self.port, 4096), "port: 1 to 4096"),
            (products.into_iter().all(|n| up_to(n, 1 << 16)), "products: 1 to 2^16"),
            (self.medium <= self.wide, "medium: at most wide"),
            (share(self.wide_share) && share(self.medium_share) && share(self.narrow_share), "shares: 1 to 100"),
            (up_to(self.ddr_rate, 1 << 20) && up_to(self.noc_rate, 1 << 20), "rates: 1 to 2^20"),
            (
                [self.task, self.ddr_latency, self.noc_latency, self.post, self.wait].into_iter().all(|n| n < 1 << 20),
                "latencies: below 2^20",
            ),
            (up_to(self.alignment, 4096) && self.alignment.is_power_of_two(), "alignment: a power of 2 up to 4096"),
        ];
        rules.iter().find(|(holds, _)| !holds).map_or(Ok(()), |(_, rule)| Err(rule))
    }

    /// Returns the bytes of a cluster's memory for buffers.
    pub fn buffer_bytes(&self) -> u32 {
        self.spm.saturating_sub(self.reserved)
    }

    /// Returns the parameters with their names, in the order of the declaration.
    pub fn parameters(&mut self) -> [(&'static str, &mut u32); 22] {
        [
            ("clusters", &mut self.clusters),
            ("cores", &mut self.cores),
            ("spm", &mut self.spm),
            ("reserved", &mut self.reserved),
            ("port", &mut self.port),
            ("f32_products", &mut self.f32_products),
            ("f16_products", &mut self.f16_products),
            ("int8_products", &mut self.int8_products),
            ("wide", &mut self.wide),
            ("wide_share", &mut self.wide_share),
            ("medium", &mut self.medium),
            ("medium_share", &mut self.medium_share),
            ("narrow_share", &mut self.narrow_share),
            ("task", &mut self.task),
            ("ddr_rate", &mut self.ddr_rate),
            ("ddr_latency", &mut self.ddr_latency),
            ("noc_rate", &mut self.noc_rate),
            ("noc_latency", &mut self.noc_latency),
            ("post", &mut self.post),
            ("wait", &mut self.wait),
            ("alignment", &mut self.alignment),
            ("slice", &mut self.slice),
        ]
    }

    /// Returns the hash of the parameters (FNV-1a of the values in the order of the declaration), which a binary carries.
    pub fn hash(&self) -> u64 {
        let mut machine = self.clone();
        let bytes = machine.parameters().map(|(_, value)| *value).into_iter().flat_map(u32::to_le_bytes);
        bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3))
    }
}
