//! The budget of a planner, counted in steps.

use std::time::Instant;

/// The work that a planner may do before it returns its best plan.
#[derive(Clone, Copy, Debug)]
pub struct Budget {
    /// Number of steps, each a few nanoseconds of work. The same problem and number of steps give the same plan on
    /// every machine, if no deadline ends the work.
    pub steps: u64,
    /// Time at which the work ends although steps are left.
    pub deadline: Option<Instant>,
}

impl Budget {
    /// Steps in a second of one core, measured once; [`Budget::seconds`] uses the number on every machine.
    pub const STEPS_PER_SECOND: u64 = 120_000_000;

    /// Creates a budget of steps without a deadline.
    pub const fn steps(steps: u64) -> Budget {
        Budget { steps, deadline: None }
    }

    /// Creates a budget of about `seconds`, counted in steps.
    pub fn seconds(seconds: f64) -> Budget {
        // Casts saturate: a negative number or NaN gives 0 steps.
        Budget::steps((seconds * Budget::STEPS_PER_SECOND as f64) as u64)
    }

    /// Adds a deadline.
    #[must_use]
    pub const fn until(self, deadline: Instant) -> Budget {
        Budget { deadline: Some(deadline), ..self }
    }
}

/// Steps between two looks at the clock.
const CLOCK_STEPS: u64 = 1 << 20;

/// A counter of steps against a budget.
#[derive(Clone, Debug)]
pub(crate) struct Meter {
    used: u64,
    budget: Budget,
    next_look: u64,
    is_late: bool,
    is_stopped: bool,
}

impl Meter {
    pub(crate) fn new(budget: Budget) -> Meter {
        Meter { used: 0, budget, next_look: 0, is_late: false, is_stopped: false }
    }

    /// Adds steps. Returns whether work may go on.
    #[inline]
    pub(crate) fn charge(&mut self, steps: u64) -> bool {
        self.used = self.used.saturating_add(steps);
        if self.used >= self.next_look {
            self.next_look = self.used.saturating_add(CLOCK_STEPS);
            self.is_late |= self.budget.deadline.is_some_and(|deadline| Instant::now() >= deadline);
        }
        self.has_more()
    }

    /// Whether work may go on.
    #[inline]
    pub(crate) fn has_more(&self) -> bool {
        self.used < self.budget.steps && !self.is_late && !self.is_stopped
    }

    /// Returns a meter for a part of the work, of at most `steps`.
    pub(crate) fn part(&self, steps: u64) -> Meter {
        Meter { budget: Budget { steps, ..self.budget }, used: 0, next_look: 0, ..self.clone() }
    }

    /// Adds the work of a part.
    pub(crate) fn add(&mut self, part: &Meter) {
        self.is_stopped |= part.is_stopped;
        self.is_late |= part.is_late;
        self.charge(part.used);
    }

    /// Ends the work: the caller is satisfied.
    pub(crate) fn stop(&mut self) {
        self.is_stopped = true;
    }

    /// Returns the number of steps so far.
    pub(crate) fn used(&self) -> u64 {
        self.used
    }

    /// Returns the number of steps that are left.
    pub(crate) fn left(&self) -> u64 {
        self.budget.steps.saturating_sub(self.used)
    }

    /// Whether the deadline ended the work.
    pub(crate) fn is_late(&self) -> bool {
        self.is_late
    }
}

/// Pseudo-random numbers: xorshift64*.
#[derive(Clone, Debug)]
pub(crate) struct Random(u64);

impl Random {
    pub(crate) const fn new(seed: u64) -> Random {
        Random(seed ^ 0x9e37_79b9_7f4a_7c15)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    /// Returns a number below `end`, which is not 0.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        ((u128::from(self.next()) * end as u128) >> 64) as usize
    }
}
