//! Random numbers.

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
    pub fn range(&mut self, low: u32, high: u32) -> u32 {
        low + (self.next() % (u64::from(high - low) + 1)) as u32
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

impl Rng {
    /// Returns a float between `-scale` and `scale`.
    pub fn float(&mut self, scale: f32) -> f32 {
        (self.next() >> 40) as f32 / (1 << 23) as f32 * scale - scale
    }

    /// Returns a value of an element type.
    pub fn element(&mut self, elem: gradus_simulators::cluster::Elem) -> f32 {
        use gradus_simulators::cluster::Elem;
        match elem {
            Elem::F32 => self.float(1.0),
            Elem::F16 => half::f16::from_f32(self.float(1.0)).to_f32(),
            Elem::I8 => f32::from(self.next() as i8),
            Elem::U8 => f32::from(self.next() as u8),
        }
    }
}
