//! Random problems: every plan is valid, small ones are optimal, and the validator agrees with the definition.

use gradus_plan::{Budget, Buffer, Infeasible, Plan, Pool, Problem, plan, validate};
use std::ops::ControlFlow;

/// Pseudo-random numbers.
struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end
    }

    fn one_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }
}

/// The kinds of constraints of a random problem.
#[derive(Clone, Copy)]
struct Kinds {
    alignment: bool,
    fixed: bool,
    in_place: bool,
    pools: bool,
}

const PLAIN: Kinds = Kinds { alignment: false, fixed: false, in_place: false, pools: false };

fn problem(random: &mut Random, most: u64, bytes: u64, kinds: Kinds) -> Problem {
    let (n, times) = (random.below(most + 1), 1 + random.below(most * 2));
    let num_pools = if kinds.pools { 1 + random.below(3) } else { 1 };
    let mut buffer = || {
        let start = random.below(times) as i64;
        let mut buffer = Buffer::new(start, start + 1 + random.below(times) as i64, random.below(bytes));
        if kinds.alignment {
            buffer.alignment = [1, 2, 4, 3][random.below(4) as usize];
        }
        if kinds.fixed && random.one_in(6) {
            buffer.fixed = Some(random.below(2 * bytes) / buffer.alignment * buffer.alignment);
        }
        buffer.pools = if kinds.pools { 1 + random.below((1 << num_pools) - 1) } else { 1 };
        buffer
    };
    let buffers: Vec<Buffer> = (0..n).map(|_| buffer()).collect();
    let pair = |random: &mut Random| (random.below(n) as u32, random.below(n) as u32);
    let mut pairs: Vec<(u32, u32)> =
        if kinds.in_place && n > 1 { (0..n).map(|_| pair(random)).collect() } else { Vec::new() };
    pairs.retain(|(a, b)| a != b);
    let capacity = |random: &mut Random| Pool { capacity: random.one_in(2).then(|| random.below(4 * bytes)) };
    let pools = (0..num_pools).map(|_| if kinds.pools { capacity(random) } else { Pool::default() }).collect();
    Problem::new(buffers, pools, pairs).expect("follows the rules")
}

fn solve(problem: &Problem, steps: u64) -> Result<Plan, Box<Infeasible>> {
    plan(problem, Budget::steps(steps), &mut |_| ControlFlow::Continue(()))
}

/// Whether two buffers at offsets violate the definition.
fn overlap(problem: &Problem, i: usize, j: usize, at: &[u64]) -> bool {
    let (a, b) = (&problem.buffers()[i], &problem.buffers()[j]);
    let in_time = a.start < b.end && b.start < a.end;
    let in_memory = at[i] < at[j] + b.bytes && at[j] < at[i] + a.bytes && a.bytes > 0 && b.bytes > 0;
    let is_pair = |&(x, y): &(u32, u32)| (x as usize, y as usize) == (i, j) || (y as usize, x as usize) == (i, j);
    in_time && in_memory && !(at[i] == at[j] && problem.in_place().iter().any(is_pair))
}

/// Returns the smallest peak of one pool by trying all offsets below `limit`.
fn smallest_peak(problem: &Problem, at: &mut Vec<u64>, limit: u64) -> Option<u64> {
    let i = at.len();
    let Some(buffer) = problem.buffers().get(i) else {
        let end = |(b, o): (&Buffer, &u64)| if b.bytes == 0 { 0 } else { o + b.bytes };
        return problem.buffers().iter().zip(&*at).map(end).max();
    };
    let mut best: Option<u64> = None;
    let offsets = buffer.fixed.map_or(0..limit, |o| o..o + 1);
    for offset in offsets.filter(|o| o % buffer.alignment == 0) {
        if buffer.fixed.is_none() && offset + buffer.bytes > best.unwrap_or(limit) {
            break;
        }
        at.push(offset);
        if !(0..i).any(|j| overlap(problem, i, j, at)) {
            let peak = smallest_peak(problem, at, limit);
            best = best.into_iter().chain(peak).min();
        }
        at.pop();
        if buffer.bytes == 0 {
            break;
        }
    }
    best
}

#[test]
fn small_plain_problems_are_optimal() {
    let mut random = Random(1);
    for _ in 0..1500 {
        let problem = problem(&mut random, 6, 5, PLAIN);
        let total: u64 = problem.buffers().iter().map(|b| b.bytes).sum();
        let best = smallest_peak(&problem, &mut Vec::new(), total).unwrap_or(0);
        let plan = solve(&problem, 1_000_000).expect("has no capacity");
        assert_eq!((plan.peak(), plan.lower_bound()), (best, best), "{problem:?}");
    }
}

#[test]
fn small_problems_with_constraints_are_nearly_optimal() {
    let mut random = Random(2);
    let (mut count, mut optimal) = (0, 0);
    for i in 0..1500 {
        let kinds = Kinds { alignment: i % 2 == 0, fixed: i % 3 == 0, in_place: i % 5 < 3, pools: false };
        let problem = problem(&mut random, 5, 5, kinds);
        let limit: u64 = problem.buffers().iter().map(|b| b.bytes + b.alignment + b.fixed.unwrap_or(0)).sum();
        let best = smallest_peak(&problem, &mut Vec::new(), limit);
        match (best, solve(&problem, 20_000)) {
            (Some(best), Ok(plan)) => {
                assert!(plan.lower_bound() <= best && best <= plan.peak(), "{best}: {plan:?} for {problem:?}");
                count += 1;
                optimal += u32::from(plan.peak() == best);
            }
            (None, Err(error)) => {
                assert!(error.is_proven && !error.conflicts.is_empty() || problem.buffers().is_empty());
            }
            (None, Ok(plan)) => assert!(problem.buffers().is_empty(), "{plan:?} for {problem:?}"),
            (best, found) => panic!("{best:?}, {found:?} for {problem:?}"),
        }
    }
    assert!(optimal * 100 >= count * 97, "only {optimal} of {count} are optimal");
}

#[test]
fn ten_thousand_plans_are_valid() {
    let mut random = Random(3);
    for i in 0..10_000_u64 {
        let bit = |bit: u64| i >> bit & 1 == 1;
        let kinds = Kinds { alignment: bit(0), fixed: bit(1), in_place: bit(2), pools: bit(3) };
        let most = if i % 100 == 0 { 200 } else { 25 };
        let problem = problem(&mut random, most, 1 + i % 70, kinds);
        let mut last = None;
        let result = plan(&problem, Budget::steps(random.below(60_000)), &mut |plan| {
            let rank = |plan: &Plan| (!plan.fits(&problem), plan.peak());
            assert!(last.is_none_or(|last| rank(plan) < last) || !plan.fits(&problem), "is not better");
            last = Some(rank(plan));
            ControlFlow::Continue(())
        });
        match result {
            Ok(plan) => assert_eq!(check(&problem, &plan), (true, true), "{plan:?} for {problem:?}"),
            Err(e) if e.conflicts.is_empty() => {
                let pools = e.plan.peaks.iter().map(|&peak| Pool { capacity: Some(peak) }).collect();
                let wider = Problem::new(problem.buffers().to_vec(), pools, problem.in_place().to_vec()).unwrap();
                assert_eq!(check(&wider, &e.plan), (true, true), "{e:?} for {problem:?}");
                assert!(!e.plan.fits(&problem));
            }
            Err(e) => assert!(!check(&problem, &e.plan).1),
        }
    }
}

/// Returns the verdicts of the validator and of the definition.
fn check(problem: &Problem, plan: &Plan) -> (bool, bool) {
    let all = problem.buffers().len();
    let alone = |i: usize| {
        let (buffer, offset, pool) = (&problem.buffers()[i], plan.offsets[i], plan.pools[i] as usize);
        let end = if buffer.bytes == 0 { 0 } else { offset + buffer.bytes };
        offset % buffer.alignment == 0
            && buffer.fixed.is_none_or(|fixed| fixed == offset)
            && buffer.pools >> pool & 1 == 1
            && problem.pools()[pool].capacity.is_none_or(|most| end <= most)
            && end <= plan.peaks[pool]
    };
    let apart = |i: usize, j: usize| plan.pools[i] != plan.pools[j] || !overlap(problem, i, j, &plan.offsets);
    let holds = (0..all).all(|i| alone(i) && (0..i).all(|j| apart(i, j)));
    (validate(problem, plan).is_ok(), holds)
}

#[test]
fn the_validator_agrees_with_the_definition() {
    let mut random = Random(4);
    let (mut valid, mut invalid) = (0, 0);
    for i in 0..20_000 {
        let kinds = Kinds { alignment: i % 2 == 0, fixed: false, in_place: i % 3 > 0, pools: i % 5 == 0 };
        let problem = problem(&mut random, 5, 4, kinds);
        let offsets: Vec<u64> = problem.buffers().iter().map(|b| random.below(8) * b.alignment).collect();
        let pools = problem.buffers().iter().map(|b| b.pools.trailing_zeros()).collect();
        let peaks = vec![40; problem.pools().len()];
        let (found, holds) = check(&problem, &Plan { offsets, pools, peaks, ..Plan::default() });
        assert_eq!(found, holds, "{problem:?}");
        *(if holds { &mut valid } else { &mut invalid }) += 1;
    }
    assert!(valid > 2000 && invalid > 2000, "{valid} valid, {invalid} invalid");
}

#[test]
fn steps_decide_the_plan() {
    let mut random = Random(5);
    for _ in 0..40 {
        let problem = problem(&mut random, 60, 1000, PLAIN);
        let steps = random.below(3_000_000);
        let [a, b] = [solve(&problem, steps), solve(&problem, steps)];
        assert_eq!(a.expect("has no capacity"), b.expect("has no capacity"));
    }
}
