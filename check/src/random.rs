//! Choices: what programs are run on, and which programs are made. They are the same on every machine.

use std::hash::{BuildHasher, Hash};

/// Choices: those of a seed, by SplitMix64 (Steele, Lea and Flood, OOPSLA 2014), or those of a tape.
pub struct Random {
    state: u64,
    tape: Option<std::vec::IntoIter<u64>>,
    taken: Option<Vec<u64>>,
}

impl Random {
    /// The choices that belong to `key`.
    pub fn of(key: impl Hash) -> Random {
        Random { state: rustc_hash::FxBuildHasher.hash_one(key), tape: None, taken: None }
    }

    /// The choices on a tape, and 0 from its end on.
    pub fn replay(tape: Vec<u64>) -> Random {
        Random { state: 0, tape: Some(tape.into_iter()), taken: None }
    }

    /// Notes all choices from here on.
    pub fn record(&mut self) {
        self.taken = Some(Vec::new());
    }

    /// The tape of the choices since [`Random::record`].
    pub fn into_tape(self) -> Vec<u64> {
        self.taken.unwrap_or_default()
    }

    /// Any number.
    #[allow(clippy::should_implement_trait, reason = "choices have no end")]
    pub fn next(&mut self) -> u64 {
        let choice = match &mut self.tape {
            Some(tape) => tape.next().unwrap_or(0),
            None => self.generate(),
        };
        if let Some(taken) = &mut self.taken {
            taken.push(choice);
        }
        choice
    }

    fn generate(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number below `n`, which is not 0.
    pub fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }

    /// Whether something happens that does so in so many of a hundred cases.
    pub fn percent(&mut self, chance: u64) -> bool {
        self.below(100) < chance
    }

    /// One of a list that is not empty.
    pub fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len() as u64) as usize]
    }

    /// An integer as bits: often one at which something changes, else small or anything.
    pub fn int(&mut self, width: u32) -> i64 {
        let low = -1i64 << (width - 1);
        match self.next() % 4 {
            0 => self.pick(&[0, 1, -1, 2, low, !low, low + 1, i64::from(width), i64::from(width) - 1]),
            1 => self.next() as i64 % 16,
            2 => self.next() as i64,
            _ => self.next() as i64 >> (self.next() % 64),
        }
    }

    /// A float: often one at which something changes.
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
            // All digits, and of a size that sums with others are rounded.
            2 => self.next().cast_signed() as f64 * f64::exp2((self.below(32) as i32 - 80).into()),
            _ => f64::from_bits(self.next()),
        }
    }
}
