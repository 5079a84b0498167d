//! The planner of one pool: first fit in several orders, then search and improvement in turn, until the budget is used up.

use crate::budget::Meter;
use crate::first_fit::FirstFit;
use crate::instance::Instance;
use crate::orders::{Improver, NUM_ORDERS, order};
use crate::search::{PlacementSearch, SearchOutcome};

/// A callback that receives offsets in bytes and their peak when they are better than those before, and the steps so far. Returns
/// whether to go on.
pub(crate) type OnBetter<'a> = &'a mut dyn FnMut(&[u64], u64, u64) -> bool;

/// The result for one pool.
#[derive(Clone, Debug, Default)]
pub(crate) struct Solution {
    /// Offset of each buffer in bytes.
    pub offsets: Vec<u64>,
    /// The largest end in bytes.
    pub peak: u64,
    /// Lower bound of the peak in bytes, at least the instance's: exhausted searches raise it.
    pub bound: u64,
}

/// Maximum number of cells (buffers times their sections) of instances that are searched; a node of larger ones takes too long.
const MAX_CELLS: usize = 4_000_000;

/// Number of failures after which the first searches give up. Short searches with other preferences find more than a long one.
const MIN_FAILURES: u64 = 50;

/// The preferences of the search, by round.
const MODES: [u32; 8] = [0, 4, 1, 5, 2, 6, 3, 7];

struct Solver<'a, 'm> {
    inst: &'a Instance,
    meter: &'m mut Meter,
    on_better: OnBetter<'m>,
    best: Solution,
}

/// Plans an instance. There is always a solution; without a larger budget it is that of one order.
pub(crate) fn solve(inst: &Instance, capacity: Option<u64>, meter: &mut Meter, on_better: OnBetter<'_>) -> Solution {
    let best = Solution { bound: inst.bound, peak: u64::MAX, offsets: Vec::new() };
    let mut solver = Solver { inst, meter, on_better, best };
    let first = solver.try_orders();
    if solver.is_open() {
        let search = (inst.cells() <= MAX_CELLS).then(|| PlacementSearch::new(inst, solver.best.peak)).flatten();
        solver.rounds(search, Improver::new(first), capacity);
    }
    solver.best
}

impl Solver<'_, '_> {
    /// Whether a better plan is possible and the budget is not used up.
    fn is_open(&self) -> bool {
        self.best.peak > self.best.bound && self.meter.has_more()
    }

    fn accept(&mut self, offsets: Vec<u64>, peak: u64) {
        if peak < self.best.peak {
            let goes_on = (self.on_better)(&offsets, peak, self.meter.used());
            (self.best.offsets, self.best.peak) = (offsets, peak);
            if !goes_on {
                self.meter.stop();
            }
        }
    }

    /// Tries the fixed orders and returns the best.
    fn try_orders(&mut self) -> Vec<u32> {
        let (mut fit, mut best) = (FirstFit::default(), Vec::new());
        for number in 0..NUM_ORDERS {
            if number > 0 && !self.is_open() {
                break;
            }
            let order = order(self.inst, number);
            if let Some(peak) = fit.place(self.inst, &order, self.best.peak, self.meter) {
                self.accept(fit.offsets.clone(), peak);
                best = order;
            }
        }
        best
    }

    /// Alternates search and improvement, with twice the work in each round.
    fn rounds(&mut self, mut search: Option<PlacementSearch>, mut improver: Improver, capacity: Option<u64>) {
        let mut round = 0_u32;
        while self.is_open() {
            let before = self.meter.used();
            if let Some(search) = &mut search {
                self.search_round(search, round, capacity);
            }
            // Improvement takes a quarter of the time of the search.
            let until = self.meter.used() + (self.meter.used() - before) / 4;
            loop {
                if !self.is_open() {
                    return;
                }
                let target = self.best.bound + (self.best.peak - self.best.bound) / 2;
                if let Some(peak) = improver.step(self.inst, target, self.best.peak, self.meter) {
                    self.accept(improver.offsets().to_vec(), peak);
                }
                if self.meter.used() >= until {
                    break;
                }
            }
            round += 1;
        }
    }

    /// Searches at the lower bound, then between it and the best peak by bisection.
    fn search_round(&mut self, search: &mut PlacementSearch, round: u32, capacity: Option<u64>) {
        let max_failures = MIN_FAILURES << (round / 4).min(24);
        let mut low = self.best.bound;
        if let Some(capacity) = capacity.filter(|&most| most < self.best.peak) {
            low = low.max(self.search_at(search, capacity, round, max_failures));
        }
        let mut target = self.best.bound;
        while self.is_open() && target < self.best.peak {
            low = low.max(self.search_at(search, target, round, max_failures));
            let gap = self.best.peak.saturating_sub(low);
            if gap <= self.best.bound / 1000 {
                break;
            }
            target = low + gap / 2;
        }
    }

    /// Searches once at a target. Returns the target if no plan was found, otherwise 0.
    fn search_at(&mut self, search: &mut PlacementSearch, target: u64, round: u32, max_failures: u64) -> u64 {
        match search.run(target, MODES[round as usize % MODES.len()], u64::from(round / 8), max_failures, self.meter) {
            SearchOutcome::Found => {
                let offsets: Vec<u64> = (0..self.inst.len()).map(|b| search.offset(b)).collect();
                let ends = offsets.iter().zip(&self.inst.bytes).map(|(offset, bytes)| offset + bytes);
                let peak = ends.max().unwrap_or(0);
                self.accept(offsets, peak);
                0
            }
            SearchOutcome::Proven => {
                self.best.bound = self.best.bound.max((target + 1).min(self.best.peak));
                target
            }
            SearchOutcome::Unknown => target,
        }
    }
}
