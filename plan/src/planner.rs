//! The planner: buffers to pools, and each pool planned by itself.

use crate::budget::{Budget, Meter};
use crate::instance::Instance;
use crate::problem::{Buffer, Plan, Problem};
use crate::solve::{Solution, solve};
use crate::validate::{Conflict, validate};
use std::fmt;
use std::ops::ControlFlow;

/// The reason why there is no plan within the capacities.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Infeasible {
    /// The best plan without regard to capacities: its peaks are capacities that would do, if there are no conflicts.
    pub plan: Plan,
    /// Whether no plan exists. Otherwise the budget was too small to find one or to exclude it.
    pub is_proven: bool,
    /// Conflicts between fixed offsets, which no capacity removes.
    pub conflicts: Vec<Conflict>,
}

impl fmt::Display for Infeasible {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(conflict) = self.conflicts.first() {
            return write!(f, "the fixed offsets conflict: {conflict}");
        }
        let known = if self.is_proven { "no plan fits" } else { "no plan was found that fits" };
        write!(f, "{known}; a capacity of {} bytes would do", self.plan.peak())
    }
}

impl std::error::Error for Infeasible {}

/// Plans a problem.
///
/// `on_better` receives each plan that is better than those before: a first one after O(n²) comparisons at most, however
/// small the budget. It may end the work. Better is a smaller sum of bytes beyond capacities, then a smaller sum of
/// peaks. The work ends early at a plan that meets the lower bounds. The plan depends on the problem and the number of
/// steps only, unless a deadline ends the work.
pub fn plan(
    problem: &Problem,
    budget: Budget,
    on_better: &mut dyn FnMut(&Plan) -> ControlFlow<()>,
) -> Result<Plan, Box<Infeasible>> {
    let mut planner = Planner::new(problem, budget);
    let mut best: Option<Plan> = None;
    let mut report = |plan: &Plan| {
        let is_better = best.as_ref().is_none_or(|best| rank(problem, plan) < rank(problem, best));
        let goes_on = !is_better || on_better(plan).is_continue();
        if is_better {
            best = Some(plan.clone());
        }
        goes_on
    };
    let mut goes_on = planner.begin(&mut report);
    for _ in 0..MAX_SPILLS {
        if !goes_on || !planner.spill() {
            break;
        }
        goes_on = planner.begin(&mut report);
    }
    if goes_on {
        planner.improve(&mut report);
    }
    let mut plan = best.unwrap_or_default();
    plan.is_timed = planner.meter.is_late();
    plan.lower_bounds = plan.lower_bounds.iter().zip(planner.bounds(&plan)).map(|(a, b)| b.max(*a)).collect();
    finish(problem, plan)
}

/// The largest number of times that buffers are moved to other pools.
const MAX_SPILLS: usize = 16;

/// Returns the sum of bytes beyond capacities, and sum of peaks.
fn rank(problem: &Problem, plan: &Plan) -> (u64, u64) {
    let beyond =
        problem.pools().iter().zip(&plan.peaks).map(|(pool, &peak)| peak.saturating_sub(pool.capacity.unwrap_or(peak)));
    (beyond.sum(), plan.peak())
}

/// Checks the best plan.
fn finish(problem: &Problem, plan: Plan) -> Result<Plan, Box<Infeasible>> {
    let mut conflicts = validate(problem, &plan).err().unwrap_or_default();
    if conflicts.is_empty() {
        return Ok(plan);
    }
    conflicts.retain(|conflict| !matches!(conflict, Conflict::Capacity(_)));
    let is_proven = !conflicts.is_empty() || (0..problem.pools().len()).any(|pool| is_too_small(problem, &plan, pool));
    Err(Box::new(Infeasible { plan, is_proven, conflicts }))
}

/// Whether the buffers that allow one pool only exceed its capacity.
fn is_too_small(problem: &Problem, plan: &Plan, pool: usize) -> bool {
    let Some(capacity) = problem.pools()[pool].capacity else { return false };
    let chosen = |b: &&Buffer| b.bytes > 0 && choices(problem, b) == 1 << pool;
    let alone: Vec<Buffer> = problem.buffers().iter().filter(chosen).copied().collect();
    let members =
        problem.buffers().iter().zip(&plan.pools).filter(|(b, p)| **p as usize == pool && b.bytes > 0).count();
    if alone.len() == members {
        return plan.lower_bounds[pool] > capacity;
    }
    // Without the pairs the bound is too large.
    problem.in_place().is_empty() && Instance::new(&alone, &[]).bound > capacity
}

/// Returns the pools of the problem that a buffer allows.
fn choices(problem: &Problem, buffer: &Buffer) -> u64 {
    buffer.pools & (u64::MAX >> (64 - problem.pools().len()))
}

/// Buffers in pools and the best solution of each pool.
struct Planner<'a> {
    problem: &'a Problem,
    meter: Meter,
    /// Pool of each buffer.
    pools: Vec<u32>,
    /// For each pool its buffers, those of 0 bytes excepted.
    members: Vec<Vec<u32>>,
    instances: Vec<Instance>,
    solutions: Vec<Solution>,
}

impl<'a> Planner<'a> {
    fn new(problem: &'a Problem, budget: Budget) -> Planner<'a> {
        let pools = assign(problem);
        let meter = Meter::new(budget);
        Planner { problem, meter, pools, members: Vec::new(), instances: Vec::new(), solutions: Vec::new() }
    }

    /// Makes the instances of all pools and a first solution of each.
    fn begin(&mut self, report: &mut dyn FnMut(&Plan) -> bool) -> bool {
        let count = self.problem.pools().len();
        self.members = vec![Vec::new(); count];
        for (b, buffer) in self.problem.buffers().iter().enumerate().filter(|(_, b)| b.bytes > 0) {
            let _ = buffer;
            self.members[self.pools[b] as usize].push(b as u32);
        }
        self.instances = (0..count).map(|pool| self.instance(pool)).collect();
        let quick = |inst: &Instance, meter: &mut Meter| {
            let mut first = Meter::new(Budget::steps(0));
            let solution = solve(inst, None, &mut first, &mut |_, _, _| true);
            meter.charge(first.used());
            solution
        };
        self.solutions = self.instances.iter().map(|inst| quick(inst, &mut self.meter)).collect();
        report(&self.plan())
    }

    fn instance(&self, pool: usize) -> Instance {
        let members = &self.members[pool];
        let buffers: Vec<Buffer> = members.iter().map(|&b| self.problem.buffers()[b as usize]).collect();
        let mut local = vec![u32::MAX; self.problem.buffers().len()];
        members.iter().zip(0..).for_each(|(&b, i)| local[b as usize] = i);
        let pairs = self.problem.in_place().iter().map(|&(a, b)| (local[a as usize], local[b as usize]));
        let pairs: Vec<(u32, u32)> = pairs.filter(|&(a, b)| a.max(b) != u32::MAX).collect();
        Instance::new(&buffers, &pairs)
    }

    /// Improves pool after pool, each with its share of the budget.
    fn improve(&mut self, report: &mut dyn FnMut(&Plan) -> bool) {
        let count = self.instances.len();
        for pool in 0..count {
            let share = self.meter.left() / (count - pool) as u64;
            let inst = std::mem::take(&mut self.instances[pool]);
            let (mut plan, members) = (self.plan(), &self.members[pool]);
            let mut meter = self.meter.part(share);
            let used = self.meter.used();
            let solution =
                solve(&inst, self.problem.pools()[pool].capacity, &mut meter, &mut |offsets, peak, steps| {
                    members.iter().zip(offsets).for_each(|(&b, &offset)| plan.offsets[b as usize] = offset);
                    plan.peaks[pool] = peak;
                    plan.steps = used + steps;
                    report(&plan)
                });
            self.meter.add(&meter);
            let bound = solution.bound.max(self.solutions[pool].bound);
            if solution.peak < self.solutions[pool].peak {
                self.solutions[pool] = solution;
            }
            self.solutions[pool].bound = bound;
            if !self.meter.has_more() {
                break;
            }
        }
    }

    /// Moves buffers that end beyond the capacity of their pool to the next pool that they allow. Returns whether there
    /// were any.
    fn spill(&mut self) -> bool {
        let mut has_moved = false;
        for pool in 0..self.members.len() {
            let Some(capacity) = self.problem.pools()[pool].capacity else { continue };
            let solution = &self.solutions[pool];
            for (&b, &offset) in self.members[pool].iter().zip(&solution.offsets) {
                let buffer = &self.problem.buffers()[b as usize];
                let later = choices(self.problem, buffer) >> pool >> 1;
                if offset + buffer.bytes > capacity && later != 0 {
                    self.pools[b as usize] = pool as u32 + 1 + later.trailing_zeros();
                    has_moved = true;
                }
            }
        }
        has_moved
    }

    /// Returns the solutions of all pools as a plan.
    fn plan(&self) -> Plan {
        let mut offsets: Vec<u64> = self.problem.buffers().iter().map(|b| b.fixed.unwrap_or(0)).collect();
        for (members, solution) in self.members.iter().zip(&self.solutions) {
            members.iter().zip(&solution.offsets).for_each(|(&b, &offset)| offsets[b as usize] = offset);
        }
        Plan {
            offsets,
            pools: self.pools.clone(),
            peaks: self.solutions.iter().map(|s| if s.offsets.is_empty() { 0 } else { s.peak }).collect(),
            lower_bounds: self.solutions.iter().map(|s| s.bound).collect(),
            steps: self.meter.used(),
            is_timed: false,
        }
    }

    /// Returns the lower bounds of the pools, which searches may have raised, for a plan with the same buffers in each
    /// pool.
    fn bounds(&self, plan: &Plan) -> Vec<u64> {
        let is_same = plan.pools == self.pools;
        self.solutions.iter().map(|s| if is_same { s.bound } else { 0 }).collect()
    }
}

/// Returns the first pools: the first that a buffer allows in which the live bytes stay within the capacity, longest
/// and largest buffers first; without one the first that it allows.
fn assign(problem: &Problem) -> Vec<u32> {
    let buffers = problem.buffers();
    let mut pools: Vec<u32> = buffers.iter().map(|b| choices(problem, b).trailing_zeros()).collect();
    if problem.pools().len() == 1 {
        return pools;
    }
    let all = Instance::new(
        &problem.buffers().iter().map(|b| Buffer { bytes: b.bytes.max(1), ..*b }).collect::<Vec<_>>(),
        &[],
    );
    let mut loads = vec![vec![0_u64; all.sections]; problem.pools().len()];
    let mut order: Vec<usize> = (0..buffers.len()).collect();
    let area = |b: usize| u128::from(buffers[b].bytes) * u128::from(all.hi[b] - all.lo[b]);
    order.sort_by_key(|&b| (choices(problem, &buffers[b]).count_ones() > 1, std::cmp::Reverse(area(b))));
    for b in order {
        let (bytes, span) = (buffers[b].bytes, all.lo[b] as usize..all.hi[b] as usize);
        let fits = |pool: usize| {
            let most = loads[pool][span.clone()].iter().max().copied().unwrap_or(0);
            problem.pools()[pool].capacity.is_none_or(|capacity| most + bytes <= capacity)
        };
        let allowed = (0..problem.pools().len()).filter(|&pool| choices(problem, &buffers[b]) >> pool & 1 == 1);
        pools[b] = allowed.into_iter().find(|&pool| fits(pool)).map_or(pools[b], |pool| pool as u32);
        loads[pools[b] as usize][span].iter_mut().for_each(|load| *load += bytes);
    }
    pools
}
