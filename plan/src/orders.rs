//! Orders in which first fit places buffers, and their improvement.

use crate::budget::{Meter, Random};
use crate::first_fit::FirstFit;
use crate::instance::Instance;
use std::cmp::Reverse;

/// A sort key of a buffer with the largest load of its sections; larger keys are placed first.
type Key = fn(&Instance, usize, u64) -> u128;

/// The orders that are tried first.
const KEYS: [Key; 6] = [
    |inst, b, _| u128::from(inst.bytes[b]) << 32 | u128::from(width(inst, b)),
    |inst, b, load| u128::from(inst.bytes[b]) * u128::from(load),
    |inst, b, _| u128::from(width(inst, b)) << 64 | u128::from(inst.bytes[b]),
    |inst, b, _| u128::from(inst.bytes[b]) * u128::from(width(inst, b)),
    |inst, b, load| u128::from(load) << 64 | u128::from(inst.bytes[b]),
    |inst, b, _| u128::from(u32::MAX - inst.lo[b]),
];

/// Number of orders.
pub(crate) const NUM_ORDERS: usize = KEYS.len();

/// Number of sections of a buffer.
fn width(inst: &Instance, b: usize) -> u32 {
    inst.hi[b] - inst.lo[b]
}

/// The buffers in one of [`NUM_ORDERS`] orders. Buffers with equal keys are in the order of the problem.
pub(crate) fn order(inst: &Instance, number: usize) -> Vec<u32> {
    let loads = largest_loads(inst);
    let mut order: Vec<u32> = (0..inst.len() as u32).collect();
    order.sort_by_cached_key(|&b| Reverse(KEYS[number](inst, b as usize, loads[b as usize])));
    order
}

/// The largest load of the sections of each buffer, with a sparse table: O(s log s + n).
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

/// Improves an order: buffers that end above a target are placed earlier, by a random factor of their rank. After some
/// rounds without a better peak the best order is taken up again.
///
/// Source: Joslin and Clements, Squeaky Wheel Optimization, 1999.
#[derive(Debug)]
pub(crate) struct Improver {
    order: Vec<u32>,
    best: Vec<u32>,
    peak: u64,
    rounds: u32,
    random: Random,
    fit: FirstFit,
}

/// Rounds without a better peak after which the best order is taken up again.
const PATIENCE: u32 = 12;

impl Improver {
    /// Begins with an order, whose peak is known.
    pub(crate) fn new(order: Vec<u32>, peak: u64) -> Improver {
        let random = Random::new(1);
        Improver { best: order.clone(), order, peak, rounds: 0, random, fit: FirstFit::default() }
    }

    /// Tries one more order. Returns its peak in bytes if it is better than all before.
    pub(crate) fn step(&mut self, inst: &Instance, target: u64, meter: &mut Meter) -> Option<u64> {
        self.shuffle(inst, target);
        let peak = self.fit.place(inst, &self.order, u64::MAX, meter)?;
        if peak <= self.peak {
            self.best.clone_from(&self.order);
            self.rounds = 0;
        } else {
            self.rounds += 1;
        }
        if self.rounds > PATIENCE {
            self.rounds = 0;
            self.order.clone_from(&self.best);
        }
        let is_better = peak < self.peak;
        self.peak = self.peak.min(peak);
        is_better.then_some(peak)
    }

    /// The offsets of the last order.
    pub(crate) fn offsets(&self) -> &[u64] {
        &self.fit.offsets
    }

    fn shuffle(&mut self, inst: &Instance, target: u64) {
        let mut keys: Vec<(u64, u32)> = Vec::with_capacity(self.order.len());
        for (rank, &b) in self.order.iter().enumerate() {
            let offset = self.fit.offsets.get(b as usize).copied().unwrap_or(0);
            let key = rank as u64 * 1024;
            let is_high = offset + inst.bytes[b as usize] > target;
            keys.push((if is_high { key / 1024 * self.random.below(1024) as u64 } else { key }, b));
        }
        keys.sort_unstable();
        self.order.clear();
        self.order.extend(keys.into_iter().map(|(_, b)| b));
    }
}
