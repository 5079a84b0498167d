//! Memory planning: offsets in one arena such that values with overlapping live ranges do not overlap in memory.

use crate::aligned_bytes::LINE;
use std::collections::BTreeMap;

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

/// A sort key; larger keys are placed first.
type Key = fn(&Slot) -> (usize, usize);

/// Assigns an offset to each slot such that no two live slots overlap: the better of placing by size and by first step.
///
/// Source: "greedy by size" of Pisarchyk and Lee, Efficient Memory Management for Deep Neural Net Inference, 2020.
pub(super) fn place(slots: &[Slot], steps: usize) -> (Vec<usize>, Usage) {
    let room = |slot: &Slot| slot.bytes.next_multiple_of(LINE);
    let usage = Usage { reserved: 0, needed: needed(slots, steps), unshared: slots.iter().map(room).sum() };
    let orders: [Key; 2] = [|slot| (slot.bytes, usize::MAX - slot.first), |slot| (usize::MAX - slot.first, slot.bytes)];
    let placed = orders.map(|key| {
        let mut order: Vec<usize> = (0..slots.len()).collect();
        order.sort_by_key(|&i| std::cmp::Reverse(key(&slots[i])));
        in_order(slots, steps, &order)
    });
    let (offsets, reserved) = placed.into_iter().min_by_key(|(_, reserved)| *reserved).unwrap_or_default();
    (offsets, Usage { reserved, ..usage })
}

/// Places each slot in the lowest gap among the slots placed before whose live ranges overlap. Returns offsets and
/// arena size, in time proportional to the live slots at each step of each live range.
fn in_order(slots: &[Slot], steps: usize, order: &[usize]) -> (Vec<usize>, usize) {
    let (mut offsets, mut reserved) = (vec![0; slots.len()], 0);
    // For each step, the intervals of placed live slots.
    let mut living: Vec<Vec<(usize, usize)>> = vec![Vec::new(); steps + 1];
    for &i in order {
        let (room, life) = (slots[i].bytes.next_multiple_of(LINE), slots[i].first..=slots[i].last);
        let mut taken: BTreeMap<usize, usize> = BTreeMap::new();
        for &(start, end) in living[life.clone()].iter().flatten() {
            let known = taken.entry(start).or_insert(end);
            *known = end.max(*known);
        }
        offsets[i] = lowest_gap(&taken, room);
        let end = offsets[i] + room;
        reserved = reserved.max(end);
        living[life].iter_mut().for_each(|at| at.push((offsets[i], end)));
    }
    (offsets, reserved)
}

/// The lowest offset with `size` free bytes.
fn lowest_gap(taken: &BTreeMap<usize, usize>, size: usize) -> usize {
    let mut at = 0;
    for (&start, &end) in taken {
        if start >= at && start - at >= size {
            break;
        }
        at = at.max(end);
    }
    at
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
            let (offsets, usage) = place(&slots, steps);
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
        assert_eq!(place(&slots, 10).1, Usage { reserved: 128, needed: 128, unshared: 640 });
    }
}
