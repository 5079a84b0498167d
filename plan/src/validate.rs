//! The validator. It shares no code with the planner.

use crate::problem::{Plan, Problem};
use std::collections::BTreeSet;
use std::fmt;

/// A violated rule of a plan.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Conflict {
    /// The plan has not one offset and one pool for each buffer, and one peak for each pool.
    Length,
    /// Two buffers are live at once and share bytes.
    Overlap(u32, u32),
    /// The offset of a buffer is not a multiple of its alignment.
    Misaligned(u32),
    /// A buffer is not at its fixed offset.
    Moved(u32),
    /// A buffer is in a pool that it does not allow.
    Pool(u32),
    /// A buffer ends after the capacity of its pool.
    Capacity(u32),
    /// A buffer ends after the peak that the plan states for its pool.
    Peak(u32),
}

impl fmt::Display for Conflict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Conflict::Length => f.write_str("the plan is of another problem"),
            Conflict::Overlap(a, b) => write!(f, "buffers {a} and {b} are live at once and share bytes"),
            Conflict::Misaligned(a) => write!(f, "buffer {a} is not aligned"),
            Conflict::Moved(a) => write!(f, "buffer {a} is not at its fixed offset"),
            Conflict::Pool(a) => write!(f, "buffer {a} is in a pool that it does not allow"),
            Conflict::Capacity(a) => write!(f, "buffer {a} ends after the capacity of its pool"),
            Conflict::Peak(a) => write!(f, "buffer {a} ends after the stated peak"),
        }
    }
}

/// The largest number of conflicts that [`validate`] lists.
const MAX_CONFLICTS: usize = 100;

/// Checks a plan against all rules of a problem, in O(n log n) for a valid plan. Returns the first 100 conflicts.
pub fn validate(problem: &Problem, plan: &Plan) -> Result<(), Vec<Conflict>> {
    let n = problem.buffers().len();
    if plan.offsets.len() != n || plan.pools.len() != n || plan.peaks.len() != problem.pools().len() {
        return Err(vec![Conflict::Length]);
    }
    let mut conflicts = Vec::new();
    for i in 0..n {
        check_buffer(problem, plan, i, &mut conflicts);
    }
    // Overlaps are searched only if every buffer is in a pool of the problem.
    if !conflicts.iter().any(|c| matches!(c, Conflict::Pool(_))) {
        sweep(problem, plan, &mut conflicts);
    }
    conflicts.truncate(MAX_CONFLICTS);
    if conflicts.is_empty() { Ok(()) } else { Err(conflicts) }
}

/// Checks the rules that concern one buffer.
fn check_buffer(problem: &Problem, plan: &Plan, i: usize, conflicts: &mut Vec<Conflict>) {
    let (buffer, offset, pool, id) = (&problem.buffers()[i], plan.offsets[i], plan.pools[i] as usize, i as u32);
    let Some(limits) = problem.pools().get(pool).filter(|_| buffer.pools >> pool & 1 == 1) else {
        conflicts.push(Conflict::Pool(id));
        return;
    };
    let end = offset.checked_add(buffer.bytes);
    let is_within = |most: u64| end.is_some_and(|end| end <= most);
    let rules = [
        (offset % buffer.alignment == 0, Conflict::Misaligned(id)),
        (buffer.fixed.is_none_or(|fixed| fixed == offset), Conflict::Moved(id)),
        (buffer.bytes == 0 || limits.capacity.is_none_or(is_within), Conflict::Capacity(id)),
        (buffer.bytes == 0 || is_within(plan.peaks[pool]), Conflict::Peak(id)),
    ];
    conflicts.extend(rules.into_iter().filter(|(holds, _)| !holds).map(|(_, conflict)| conflict));
}

/// Finds overlaps with a sweep over time. Before the first overlap, live buffers of one pool are disjoint or begin at the
/// same offset in place. So a new buffer can overlap those that begin inside it and the nearest that begin before it.
fn sweep(problem: &Problem, plan: &Plan, conflicts: &mut Vec<Conflict>) {
    let buffers = problem.buffers();
    let mut pairs: Vec<(u32, u32)> = problem.in_place().iter().map(|&(a, b)| (a.min(b), a.max(b))).collect();
    pairs.sort_unstable();
    let mut events: Vec<(i64, bool, u32)> = Vec::new();
    for (i, buffer) in buffers.iter().enumerate().filter(|(_, buffer)| buffer.bytes > 0) {
        events.push((buffer.start, true, i as u32));
        events.push((buffer.end, false, i as u32));
    }
    events.sort_unstable();
    // Pool, offset and index of the live buffers.
    let mut live: BTreeSet<(u32, u64, u32)> = BTreeSet::new();
    for (_, is_start, i) in events {
        let (offset, pool) = (plan.offsets[i as usize], plan.pools[i as usize]);
        if !is_start {
            live.remove(&(pool, offset, i));
            continue;
        }
        let end_of = |j: u32| plan.offsets[j as usize].saturating_add(buffers[j as usize].bytes);
        let before = live.range((pool, 0, 0)..(pool, offset, 0));
        let nearest = before.clone().next_back().map(|&(_, nearest, _)| nearest);
        let nearest = before.rev().take_while(|&&(_, other, _)| Some(other) == nearest);
        let inside = live.range((pool, offset, 0)..(pool, end_of(i), 0));
        for &(_, other, j) in nearest.filter(|&&(_, _, j)| end_of(j) > offset).chain(inside) {
            let pair = (i.min(j), i.max(j));
            if other != offset || pairs.binary_search(&pair).is_err() {
                conflicts.push(Conflict::Overlap(pair.0, pair.1));
            }
        }
        if conflicts.len() > MAX_CONFLICTS {
            return;
        }
        live.insert((pool, offset, i));
    }
}
