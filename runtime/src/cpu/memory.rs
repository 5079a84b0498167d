//! Memory planning: offsets in one arena such that values with overlapping live ranges do not overlap in memory.

use crate::aligned_bytes::LINE;
use gradus_plan::{Budget, Buffer, Pool, Problem, plan};
use std::ops::ControlFlow;

/// A value that needs memory, with its live range: from the defining step to the last use.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slot {
    pub bytes: usize,
    pub first: usize,
    pub last: usize,
}

/// The memory usage of a program in bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Usage {
    /// Size of the arena.
    pub reserved: usize,
    /// Lower bound: the largest total size of values that are live at the same step.
    pub needed: usize,
    /// Total size of all values.
    pub unshared: usize,
}

/// Steps of planning, about 3 ms. With [`STEPS_PER_SLOT`] they suffice for every fixed order of 1,800 slots.
const STEPS: u64 = 300_000;
/// Further steps for each slot.
const STEPS_PER_SLOT: u64 = 2_000;

/// Assigns an offset to each slot such that no two live slots overlap. `None` if their sizes exceed 63 bits.
pub(super) fn place(slots: &[Slot], steps: usize) -> Option<(Vec<usize>, Usage)> {
    let room = |slot: &Slot| slot.bytes.next_multiple_of(LINE);
    let usage = Usage { reserved: 0, needed: needed(slots, steps), unshared: slots.iter().map(room).sum() };
    let buffer = |slot: &Slot| Buffer {
        alignment: LINE as u64,
        ..Buffer::new(slot.first as i64, slot.last as i64 + 1, slot.bytes as u64)
    };
    let problem = Problem::new(slots.iter().map(buffer).collect(), vec![Pool::default()], Vec::new()).ok()?;
    let budget = Budget::steps(STEPS + STEPS_PER_SLOT * slots.len() as u64);
    let plan = plan(&problem, budget, &mut |_| ControlFlow::Continue(())).ok()?;
    let offsets = plan.offsets.iter().map(|&offset| offset as usize).collect();
    Some((offsets, Usage { reserved: (plan.peak() as usize).next_multiple_of(LINE), ..usage }))
}

/// The largest total size of live slots over all steps.
pub(super) fn needed(slots: &[Slot], steps: usize) -> usize {
    let mut change = vec![0_isize; steps + 2];
    for slot in slots {
        change[slot.first] += slot.bytes as isize;
        change[slot.last + 1] -= slot.bytes as isize;
    }
    let mut now = 0;
    let most = change.into_iter().map(|bytes| {
        now += bytes;
        now
    });
    most.max().unwrap_or(0) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_lives_at_once_is_apart() {
        let mut state = 1_u64;
        let mut next = |below: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as usize % below
        };
        for _ in 0..200 {
            let steps = 1 + next(30);
            let slots: Vec<Slot> = (0..next(40))
                .map(|_| {
                    let first = next(steps);
                    Slot { bytes: next(1000), first, last: first + next(steps - first) }
                })
                .collect();
            let (offsets, usage) = place(&slots, steps).expect("the slots are few");
            assert!(usage.needed <= usage.reserved && usage.reserved <= usage.unshared, "{usage:?}");
            for (i, a) in slots.iter().enumerate() {
                assert!(offsets[i] % LINE == 0 && offsets[i] + a.bytes <= usage.reserved);
                for (j, b) in slots.iter().enumerate().filter(|&(j, _)| j != i) {
                    let apart = offsets[i] + a.bytes <= offsets[j] || offsets[j] + b.bytes <= offsets[i];
                    assert!(apart || a.last < b.first || b.last < a.first, "{slots:?} at {offsets:?}");
                }
            }
        }
    }

    #[test]
    fn a_chain_needs_two_at_once() {
        let slots: Vec<Slot> = (0..10).map(|i| Slot { bytes: 64, first: i, last: i + 1 }).collect();
        let (_, usage) = place(&slots, 10).expect("the slots are few");
        assert_eq!(usage, Usage { reserved: 128, needed: 128, unshared: 640 });
    }
}
