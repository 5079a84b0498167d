//! Sources of choices for inputs and generated programs, identical on every machine.

use std::hash::{BuildHasher, Hash};

/// A source of choices: SplitMix64 from a seed (Steele, Lea and Flood, OOPSLA 2014), or a recorded tape.
pub struct Random {
    state: u64,
    tape: Option<std::vec::IntoIter<u64>>,
    recorded: Option<Vec<u64>>,
}

impl Random {
    /// Creates a generator seeded by the hash of `key`.
    pub fn of(key: impl Hash) -> Random {
        Random { state: rustc_hash::FxBuildHasher.hash_one(key), tape: None, recorded: None }
    }

    /// Replays a tape, followed by zeros.
    pub fn replay(tape: Vec<u64>) -> Random {
        Random { state: 0, tape: Some(tape.into_iter()), recorded: None }
    }

    /// Starts recording.
    pub fn record(&mut self) {
        self.recorded = Some(Vec::new());
    }

    /// Returns the choices since [`Random::record`].
    pub fn into_tape(self) -> Vec<u64> {
        self.recorded.unwrap_or_default()
    }

    /// Returns 64 random bits.
    #[allow(clippy::should_implement_trait, reason = "choices have no end")]
    #[inline]
    pub fn next(&mut self) -> u64 {
        let choice = match &mut self.tape {
            Some(tape) => tape.next().unwrap_or(0),
            None => self.generate(),
        };
        if let Some(taken) = &mut self.recorded {
            taken.push(choice);
        }
        choice
    }

    #[inline]
    fn generate(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// Returns a number below `n`, which must not be 0.
    #[inline]
    pub fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }

    /// Returns `true` with a probability of `chance` percent.
    #[inline]
    pub fn percent(&mut self, chance: u64) -> bool {
        self.below(100) < chance
    }

    /// Picks an element of a nonempty list.
    pub fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len() as u64) as usize]
    }

    /// Draws an integer as bits: often a corner case, otherwise small or arbitrary.
    pub fn int(&mut self, width: u32) -> i64 {
        let low = -1i64 << (width - 1);
        match self.next() % 4 {
            0 => self.pick(&[0, 1, -1, 2, low, !low, low + 1, i64::from(width), i64::from(width) - 1]),
            1 => self.next() as i64 % 16,
            2 => self.next() as i64,
            _ => self.next() as i64 >> (self.next() % 64),
        }
    }

    /// Draws a float, often a corner case.
    pub fn float(&mut self) -> f64 {
        const EDGES: [f64; 14] = [
            0.0,
            -0.0,
            1.0,
            -1.0,
            0.5,
            2.0,
            -3.0,
            f64::INFINITY,
            f64::NEG_INFINITY,
            f64::NAN,
            1e-40,
            65504.0,
            3e38,
            1e300,
        ];
        match self.next() % 4 {
            0 => self.pick(&EDGES),
            1 => (self.next() % 2001) as f64 / 8.0 - 125.0,
            // All significant bits, at magnitudes whose sums round.
            2 => self.next().cast_signed() as f64 * exp2(self.below(32) as i32 - 80),
            _ => f64::from_bits(self.next()),
        }
    }
}

/// Returns 2 to the power of a normal exponent.
fn exp2(exponent: i32) -> f64 {
    f64::from_bits(u64::from((exponent + 1023).cast_unsigned()) << 52)
}
