//! Orders in which first fit places buffers, and their improvement.

use crate::budget::{Meter, Random};
use crate::first_fit::FirstFit;
use crate::instance::Instance;
use std::cmp::Reverse;

/// A sort key of a buffer with the largest load of its sections; larger keys are placed first.
type Key = fn(&Instance, usize, u64) -> u128;

/// The orders that are tried first.
const KEYS: [Key; 7] = [
    |inst, b, _| u128::from(inst.bytes[b]) << 32 | u128::from(width(inst, b)),
    |inst, b, load| u128::from(inst.bytes[b]) * u128::from(load) * u128::from(width(inst, b).isqrt().isqrt()),
    |inst, b, load| u128::from(inst.bytes[b]) * u128::from(load),
    |inst, b, _| u128::from(width(inst, b)) << 64 | u128::from(inst.bytes[b]),
    |inst, b, _| u128::from(inst.bytes[b]) * u128::from(width(inst, b)),
    |inst, b, _| u128::from(u32::MAX - inst.lo[b]) << 64 | u128::from(inst.bytes[b]),
    |inst, b, _| u128::from(inst.bytes[b]) << 32 | u128::from(u32::MAX - inst.lo[b]),
];

/// Number of orders.
pub(crate) const NUM_ORDERS: usize = KEYS.len();

/// Returns the number of sections of a buffer.
fn width(inst: &Instance, b: usize) -> u32 {
    inst.hi[b] - inst.lo[b]
}

/// Returns the buffers in one of [`NUM_ORDERS`] orders. Buffers with equal keys are in the order of the problem.
pub(crate) fn order(inst: &Instance, number: usize) -> Vec<u32> {
    let loads = largest_loads(inst);
    let mut order: Vec<u32> = (0..inst.len() as u32).collect();
    order.sort_by_cached_key(|&b| Reverse(KEYS[number](inst, b as usize, loads[b as usize])));
    order
}

/// Returns the largest load of the sections of each buffer, with a sparse table: O(s log s + n).
fn largest_loads(inst: &Instance) -> Vec<u64> {
    let mut rows = vec![inst.load[..inst.sections].to_vec()];
    while 2 << rows.len() <= inst.sections * 2 {
        let (half, last) = (1 << (rows.len() - 1), &rows[rows.len() - 1]);
        let next = last.iter().zip(&last[half.min(last.len())..]).map(|(a, b)| *a.max(b)).collect();
        rows.push(next);
    }
    let most = |b: usize| {
        let (lo, hi) = (inst.lo[b] as usize, inst.hi[b] as usize);
        let row = (hi - lo).ilog2() as usize;
        rows[row][lo].max(rows[row][hi - (1 << row)])
    };
    (0..inst.len()).map(most).collect()
}

/// Local search over orders: buffers that end above a target are placed earlier, by a random factor of their rank. After some
/// rounds without a better peak the best order is taken up again. Of many buffers the first are improved alone, which is
/// quicker, and all are placed when these have a better peak.
///
/// Source: Joslin and Clements, Squeaky Wheel Optimization, 1999.
#[derive(Debug)]
pub(crate) struct Improver {
    order: Vec<u32>,
    best: Vec<u32>,
    /// Number of buffers that are improved.
    prefix: usize,
    /// The smallest peak of the prefix.
    peak: u64,
    rounds: u32,
    random: Random,
    fit: FirstFit,
}

/// Rounds without a better peak after which the best order is taken up again.
const PATIENCE: u32 = 100;
/// Number of buffers that are improved at first.
const PREFIX: usize = 2048;

impl Improver {
    /// Begins with an order.
    pub(crate) fn new(order: Vec<u32>) -> Improver {
        let (best, prefix) = (order.clone(), order.len().min(PREFIX));
        Improver { best, order, prefix, peak: u64::MAX, rounds: 0, random: Random::new(1), fit: FirstFit::default() }
    }

    /// Tries one more order. Returns the peak in bytes if all buffers were placed below `limit`.
    pub(crate) fn step(&mut self, inst: &Instance, target: u64, limit: u64, meter: &mut Meter) -> Option<u64> {
        self.promote(inst, target);
        let peak = self.fit.place(inst, &self.order[..self.prefix], u64::MAX, meter)?;
        let is_better = peak < self.peak;
        self.rounds = if is_better { 0 } else { self.rounds + 1 };
        if peak <= self.peak {
            self.peak = peak;
            self.best.clone_from(&self.order);
        } else if self.rounds > PATIENCE {
            self.rounds = 0;
            self.order.clone_from(&self.best);
        }
        if !is_better || peak >= limit {
            return None;
        }
        if self.prefix == self.order.len() {
            return Some(peak);
        }
        let all = self.fit.place(inst, &self.order, u64::MAX, meter)?;
        self.extend(inst, target.max(peak));
        (all < limit).then_some(all)
    }

    /// Returns the offsets of the last order.
    pub(crate) fn offsets(&self) -> &[u64] {
        &self.fit.offsets
    }

    /// Takes the buffers behind the prefix that end above the limit into the prefix.
    fn extend(&mut self, inst: &Instance, limit: u64) {
        let offsets = &self.fit.offsets;
        let is_high = |&&b: &&u32| offsets[b as usize] + inst.bytes[b as usize] > limit;
        if !self.order[self.prefix..].iter().any(|b| is_high(&b)) {
            return;
        }
        let (high, rest): (Vec<u32>, Vec<u32>) = self.order[self.prefix..].iter().partition(|b| is_high(b));
        self.order.truncate(self.prefix);
        self.order.extend(&high);
        self.prefix = self.order.len();
        self.order.extend(rest);
        self.best.clone_from(&self.order);
        self.peak = u64::MAX;
    }

    /// Moves the buffers of the prefix that end above the target to the front, by a random factor.
    fn promote(&mut self, inst: &Instance, target: u64) {
        let mut keys: Vec<(u64, u32)> = Vec::with_capacity(self.prefix);
        for (rank, &b) in self.order[..self.prefix].iter().enumerate() {
            let offset = self.fit.offsets.get(b as usize).copied().unwrap_or(0);
            let is_high = offset + inst.bytes[b as usize] > target;
            keys.push((rank as u64 * if is_high { self.random.below(1024) as u64 } else { 1024 }, b));
        }
        keys.sort_unstable();
        self.order.splice(..self.prefix, keys.into_iter().map(|(_, b)| b));
    }
}
