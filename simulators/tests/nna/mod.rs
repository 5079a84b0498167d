//! The nna: words and text, products against plain loops, hazards, mutants, and hostile binaries.

#![expect(clippy::print_stderr, reason = "the outcomes of mutants are shown by --nocapture")]

mod hazards;
mod monotone;
mod mutants;
mod orders;
mod products;

use gradus_simulators::nna::NnaMachine;
use gradus_simulators::nna::{Conditions, Fault, ProductProgram, Shape, Statistics, simulate};

/// Returns the number of cases of a test: that of an environment variable, or a smaller one.
pub(crate) fn count(variable: &str, default: usize) -> usize {
    std::env::var(variable).ok().and_then(|n| n.parse().ok()).unwrap_or(default)
}

/// A generator of random numbers (splitmix64).
pub(crate) struct Random(pub u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut x = self.0;
        x = (x ^ x >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ x >> 31
    }

    /// Returns a number below `n`.
    pub(crate) fn below(&mut self, n: usize) -> usize {
        (self.next() % n.max(1) as u64) as usize
    }

    pub(crate) fn bytes(&mut self, n: usize) -> Vec<i8> {
        (0..n).map(|_| self.next() as i8).collect()
    }

    pub(crate) fn words(&mut self, n: usize) -> Vec<i32> {
        (0..n).map(|_| self.next() as i32).collect()
    }
}

/// Random operands of a product.
pub(crate) struct Operands {
    pub(crate) a: Vec<i8>,
    pub(crate) b: Vec<i8>,
    pub(crate) initial: Vec<i32>,
    pub(crate) scales: Vec<i32>,
}

impl Operands {
    pub(crate) fn new(shape: Shape, product: &ProductProgram, random: &mut Random) -> Operands {
        let plan = &product.layout.plan;
        let scale = |random: &mut Random| (1 + random.below(1 << 20) as i32) << 8 | (20 + random.below(16) as i32);
        Operands {
            a: random.bytes(shape.rows * shape.depth),
            b: random.bytes(shape.depth * shape.columns),
            initial: random.words(if plan.initial { shape.rows * shape.columns } else { 0 }),
            scales: (0..if plan.requantize.is_some() { shape.rows } else { 0 }).map(|_| scale(random)).collect(),
        }
    }

    /// Returns the sums of a plain loop.
    pub(crate) fn sums(&self, shape: Shape) -> Vec<i32> {
        let mut sums = self.initial.clone();
        sums.resize(shape.rows * shape.columns, 0);
        for row in 0..shape.rows {
            for k in 0..shape.depth {
                let factor = i32::from(self.a[row * shape.depth + k]);
                for column in 0..shape.columns {
                    let sum = &mut sums[row * shape.columns + column];
                    *sum = sum.wrapping_add(factor * i32::from(self.b[k * shape.columns + column]));
                }
            }
        }
        sums
    }

    pub(crate) fn run(
        &self,
        product: &ProductProgram,
        machine: &NnaMachine,
        conditions: &Conditions,
    ) -> Result<(Vec<i32>, Vec<i8>, Statistics), Fault> {
        let layout = &product.layout;
        let mut memory =
            layout.image(&self.a, &self.b, &self.initial, &self.scales, conditions.fill).expect("operands fit");
        let statistics = simulate(&product.code, machine, &mut memory, conditions)?;
        let missing = |class| Fault { at: product.code.len(), class };
        let bytes = if layout.plan.requantize.is_some() { layout.bytes(&memory).map_err(missing)? } else { Vec::new() };
        Ok((layout.sums(&memory).map_err(missing)?, bytes, statistics))
    }
}
