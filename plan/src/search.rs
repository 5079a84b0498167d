//! Exact search for a plan within a capacity.
//!
//! Offsets are built from below. The *floor* of a section is the lowest offset at which another buffer can begin there,
//! so a buffer's lowest offset is the largest floor of its sections. A *valley* is a range of sections with one floor
//! between higher ones. For one section of a valley the search decides which buffer begins on the floor there, or that
//! none does and the floor is raised: these cases exclude each other, so no plan is found twice. A section is full when
//! its floor and its remaining buffers exceed the capacity. Floors are raised wherever no remaining buffer can begin.
//! Sections that no remaining buffer connects are independent: they are searched one after the other, and the first
//! without a plan decides. States without a plan are remembered. The section with the fewest cases comes first.

use crate::budget::{Meter, Random};
use crate::instance::{Instance, gcd};
use std::ops::Range;

/// The floor of a section without remaining buffers. As all floors it fits into 31 bits: signed numbers are compared,
/// for which every machine has vector instructions.
const WALL: u32 = i32::MAX as u32;
/// Exclusive bound of capacities in units, so that sums of a capacity and a size do not overflow.
const MAX_UNITS: u64 = 1 << 30;
/// Number of remembered states.
const MEMORY: usize = 1 << 18;

/// The result of a search.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum SearchOutcome {
    /// There is a plan, and its offsets are set.
    Found,
    /// There is no plan within the capacity.
    Proven,
    /// The limit of failures or the budget was reached.
    Unknown,
}

/// A range of sections and of the stack of remaining buffers, which no buffer leaves.
#[derive(Clone, Copy, Debug)]
struct Subproblem {
    first: u32,
    last: u32,
    from: u32,
    to: u32,
}

/// The decision for one section: `count` candidates at `floor`, or the floor raised to `next`.
#[derive(Clone, Copy, Debug)]
struct Choice {
    section: u32,
    floor: u32,
    next: u32,
}

/// A search over one instance; it can be run again with other capacities and orders.
#[derive(Debug)]
pub(crate) struct PlacementSearch {
    /// Bytes of a unit.
    unit: u64,
    /// Divisor of all offsets in bytes.
    granule: u64,
    /// Sizes in bytes.
    bytes: Vec<u64>,
    /// Whether sizes in units are exact; otherwise they are rounded up and failures prove nothing.
    is_exact: bool,
    lo: Vec<u32>,
    hi: Vec<u32>,
    /// Sizes in units.
    size: Vec<u32>,
    /// Alignments in units.
    align: Vec<u32>,
    has_align: bool,
    /// Buffers sorted by first section.
    sorted: Vec<u32>,
    sections: usize,
    /// Capacity in bytes.
    limit: u64,
    /// Capacity in units, for sizes that are rounded up to the granule: the topmost may end at a smaller one.
    cap: u32,
    floor: Vec<u32>,
    /// Sum of the remaining sizes of each section.
    rest: Vec<u32>,
    /// Offsets in units.
    offset: Vec<u32>,
    /// Whether buffers that fit into a valley are tried first.
    prefers_fit: bool,
    /// Preference of each buffer; larger ones are tried first.
    rank: Vec<u64>,
    /// Number of failures in each section.
    weight: Vec<u32>,
    /// Sections with their overwritten floor and sum of remaining sizes.
    trail: Vec<(u32, u32, u32)>,
    /// Remaining buffers of the nodes on the path.
    stack: Vec<u32>,
    parts: Vec<Subproblem>,
    /// Candidates of the nodes on the path.
    cases: Vec<(u64, u32)>,
    failed: Vec<u64>,
    failures: u64,
    max_failures: u64,
    lowest: Vec<u32>,
    support: Vec<u32>,
    valley: Vec<u32>,
    count: Vec<u32>,
}

impl PlacementSearch {
    /// Prepares a search. `None` for instances with fixed offsets or pairs, and for
    /// alignments that no unit of [`MAX_UNITS`] has.
    pub(crate) fn new(inst: &Instance, peak: u64) -> Option<PlacementSearch> {
        let n = inst.len();
        if n == 0 || !inst.is_plain() {
            return None;
        }
        let has_align = inst.align.iter().any(|&a| a != inst.granule);
        let exact = if has_align { inst.granule } else { (0..n).fold(0, |g, b| gcd(inst.room(b), g)) };
        let unit = exact * (peak / exact / MAX_UNITS + 1);
        if has_align && unit != exact {
            return None;
        }
        let size: Vec<u32> = (0..n).map(|b| inst.room(b).div_ceil(unit) as u32).collect();
        let mut sorted: Vec<u32> = (0..n as u32).collect();
        sorted.sort_unstable_by_key(|&b| (inst.lo[b as usize], inst.hi[b as usize], size[b as usize]));
        Some(PlacementSearch {
            unit,
            granule: inst.granule,
            bytes: inst.bytes.clone(),
            limit: 0,
            is_exact: unit == exact,
            lo: inst.lo.clone(),
            hi: inst.hi.clone(),
            align: inst.align.iter().map(|a| (a / unit).clamp(1, MAX_UNITS) as u32).collect(),
            has_align,
            sorted,
            sections: inst.sections,
            cap: 0,
            floor: vec![0; inst.sections],
            rest: vec![0; inst.sections],
            offset: vec![0; n],
            prefers_fit: false,
            rank: vec![0; n],
            weight: vec![1; inst.sections],
            trail: Vec::new(),
            stack: Vec::new(),
            parts: Vec::new(),
            cases: Vec::new(),
            failed: vec![0; MEMORY],
            failures: 0,
            max_failures: 0,
            lowest: vec![0; n],
            support: vec![0; inst.sections],
            valley: vec![0; inst.sections],
            count: vec![0; inst.sections],
            size,
        })
    }

    /// Searches for a plan with a peak of at most `cap` bytes, until `max_failures` nodes had no plan. The candidates are
    /// tried in the order of `mode` 0 to 7, which `seed` perturbs if it is not 0.
    pub(crate) fn run(
        &mut self,
        cap: u64,
        mode: u32,
        seed: u64,
        max_failures: u64,
        meter: &mut Meter,
    ) -> SearchOutcome {
        self.limit = cap;
        self.cap = ((cap + self.granule - 1) / self.unit).min(MAX_UNITS) as u32;
        (self.failures, self.max_failures) = (0, max_failures);
        self.rank_buffers(mode, seed);
        self.floor.fill(0);
        self.rest.fill(0);
        for b in 0..self.size.len() {
            let size = self.size[b];
            self.rest[self.lo[b] as usize..self.hi[b] as usize].iter_mut().for_each(|r| *r += size);
        }
        self.trail.clear();
        self.parts.clear();
        self.cases.clear();
        self.stack.clear();
        self.stack.extend_from_slice(&self.sorted);
        let all = Subproblem { first: 0, last: self.sections as u32, from: 0, to: self.stack.len() as u32 };
        match self.propagate(all, meter) && self.split(all, 0, meter) == SearchOutcome::Found {
            true => SearchOutcome::Found,
            false if self.is_exact && self.failures < self.max_failures && meter.has_more() => SearchOutcome::Proven,
            false => SearchOutcome::Unknown,
        }
    }

    /// Returns the offset of a buffer in bytes, after a plan was found.
    pub(crate) fn offset(&self, b: usize) -> u64 {
        u64::from(self.offset[b]) * self.unit
    }

    fn rank_buffers(&mut self, mode: u32, seed: u64) {
        let mut random = Random::new(seed);
        self.prefers_fit = mode % 8 >= 4;
        for b in 0..self.size.len() {
            let (size, width) = (u64::from(self.size[b]), u64::from(self.hi[b] - self.lo[b]));
            let key = match mode % 4 {
                0 => size * width,
                1 => width << 31 | size,
                2 => size << 31 | width,
                _ => size * width * width,
            };
            let noise = if seed == 0 { 0 } else { random.below(512) as u128 };
            self.rank[b] = (u128::from(key.min(1 << 58)) * (1024 + noise) / 1024) as u64;
        }
    }

    /// Solves each independent part of a part whose floors are propagated.
    fn split(&mut self, part: Subproblem, depth: u32, meter: &mut Meter) -> SearchOutcome {
        let base = self.parts.len();
        let (mut from, mut end) = (part.from, 0);
        for i in part.from..part.to {
            let b = self.stack[i as usize] as usize;
            if i > from && self.lo[b] >= end {
                self.push_part(from, i, end);
                from = i;
            }
            end = end.max(self.hi[b]);
        }
        if from < part.to {
            self.push_part(from, part.to, end);
        }
        self.parts[base..].sort_unstable_by_key(|p| std::cmp::Reverse(p.to - p.from));
        let mut outcome = SearchOutcome::Found;
        while self.parts.len() > base {
            let next = self.parts.pop().expect("is above the base");
            outcome = self.node(next, depth, meter);
            if outcome != SearchOutcome::Found {
                break;
            }
        }
        self.parts.truncate(base);
        outcome
    }

    fn push_part(&mut self, from: u32, to: u32, last: u32) {
        let first = self.lo[self.stack[from as usize] as usize];
        self.parts.push(Subproblem { first, last, from, to });
    }

    /// Solves a connected part.
    fn node(&mut self, part: Subproblem, depth: u32, meter: &mut Meter) -> SearchOutcome {
        if !meter.has_more() || self.failures >= self.max_failures || depth > 8000 {
            self.failures = self.max_failures;
            return SearchOutcome::Unknown;
        }
        meter.charge(u64::from(part.to - part.from + part.last - part.first) / 2);
        let key = self.key(part);
        let slot = key as usize % MEMORY;
        if self.failed[slot] == key {
            self.failures += 1;
            return SearchOutcome::Proven;
        }
        let base = self.cases.len();
        let choice = self.choose(part);
        let outcome = self.try_cases(part, base, choice, depth, meter);
        self.cases.truncate(base);
        if outcome == SearchOutcome::Proven {
            self.failures += 1;
            self.failed[slot] = key;
        }
        outcome
    }

    fn try_cases(
        &mut self,
        part: Subproblem,
        base: usize,
        choice: Choice,
        depth: u32,
        meter: &mut Meter,
    ) -> SearchOutcome {
        let (mark, trail) = (self.stack.len(), self.trail.len());
        for case in base..self.cases.len() {
            let b = self.cases[case].1 as usize;
            let same = |&(_, o): &(u64, u32)| self.is_same(o as usize, b);
            let end = u64::from(choice.floor) * self.unit + self.bytes[b];
            if end > self.limit || self.cases[base..case].iter().any(same) {
                continue;
            }
            for i in part.from..part.to {
                let other = self.stack[i as usize];
                if other as usize != b {
                    self.stack.push(other);
                }
            }
            let rest = Subproblem { from: mark as u32, to: self.stack.len() as u32, ..part };
            self.put(b, choice.floor);
            let outcome = match self.propagate(rest, meter) {
                true => self.split(rest, depth + 1, meter),
                false => SearchOutcome::Proven,
            };
            self.stack.truncate(mark);
            if outcome == SearchOutcome::Found {
                return outcome;
            }
            self.undo(trail);
            if outcome == SearchOutcome::Unknown {
                return outcome;
            }
        }
        let s = choice.section as usize;
        if choice.next == WALL || choice.next + self.rest[s] > self.cap {
            return SearchOutcome::Proven;
        }
        self.set_floor(s, choice.next);
        let outcome = match self.propagate(part, meter) {
            true => self.split(part, depth + 1, meter),
            false => SearchOutcome::Proven,
        };
        if outcome != SearchOutcome::Found {
            self.undo(trail);
        }
        outcome
    }

    fn is_same(&self, a: usize, b: usize) -> bool {
        (self.lo[a], self.hi[a], self.bytes[a], self.align[a]) == (self.lo[b], self.hi[b], self.bytes[b], self.align[b])
    }

    fn put(&mut self, b: usize, offset: u32) {
        let (size, end) = (self.size[b], offset + self.size[b]);
        self.offset[b] = offset;
        for s in self.lo[b] as usize..self.hi[b] as usize {
            self.set_floor(s, end);
            self.rest[s] -= size;
        }
    }

    fn set_floor(&mut self, s: usize, floor: u32) {
        self.trail.push((s as u32, self.floor[s], self.rest[s]));
        self.floor[s] = floor;
    }

    fn undo(&mut self, trail: usize) {
        while self.trail.len() > trail {
            let (s, floor, rest) = self.trail.pop().expect("is above the mark");
            (self.floor[s as usize], self.rest[s as usize]) = (floor, rest);
        }
    }

    /// Raises floors to where a remaining buffer can begin. Returns whether no section is full.
    fn propagate(&mut self, part: Subproblem, meter: &mut Meter) -> bool {
        let mut raised = part.first..part.last;
        let mut is_first = true;
        while !raised.is_empty() {
            if !self.raise_buffers(part, &raised, meter) && !is_first {
                break;
            }
            is_first = false;
            match self.raise_floors(part, meter) {
                Some(range) => raised = range,
                None => return false,
            }
        }
        true
    }

    /// Computes the lowest offsets of the buffers with sections in a range. Returns whether one has changed.
    fn raise_buffers(&mut self, part: Subproblem, raised: &Range<u32>, meter: &mut Meter) -> bool {
        let (mut cells, mut has_changed) = (0, false);
        for i in part.from..part.to {
            let b = self.stack[i as usize] as usize;
            if self.lo[b] >= raised.end || raised.start >= self.hi[b] {
                continue;
            }
            let span = self.lo[b] as usize..self.hi[b] as usize;
            cells += span.len();
            let mut lowest = self.floor[span].iter().fold(0, |most: i32, &f| most.max(f as i32)) as u32;
            if self.has_align {
                lowest = lowest.next_multiple_of(self.align[b]);
            }
            has_changed |= lowest != self.lowest[b];
            self.lowest[b] = lowest;
        }
        meter.charge(cells as u64 / 8 + 8);
        has_changed
    }

    /// Raises the floor of each section to the lowest offset of its buffers. Returns the range of sections that were
    /// raised, or `None` if a section is full.
    fn raise_floors(&mut self, part: Subproblem, meter: &mut Meter) -> Option<Range<u32>> {
        let (first, last) = (part.first as usize, part.last as usize);
        let mut cells = 2 * (last - first);
        self.support[first..last].fill(WALL);
        for i in part.from..part.to {
            let b = self.stack[i as usize] as usize;
            let (span, lowest) = (self.lo[b] as usize..self.hi[b] as usize, self.lowest[b] as i32);
            cells += span.len();
            self.support[span].iter_mut().for_each(|s| *s = lowest.min(*s as i32) as u32);
        }
        meter.charge(cells as u64 / 8 + 8);
        let mut raised = part.last..part.first;
        for s in first..last {
            let floor = self.support[s];
            if floor != self.floor[s] {
                self.set_floor(s, floor);
                if floor != WALL {
                    raised = raised.start.min(s as u32)..s as u32 + 1;
                }
            }
            if floor != WALL && floor + self.rest[s] > self.cap {
                self.weight[s] = self.weight[s].saturating_add(1);
                return None;
            }
        }
        Some(raised)
    }

    /// Returns a number for the remaining buffers and floors of a part; 0 is no key.
    fn key(&self, part: Subproblem) -> u64 {
        let mut key = 0x9e37_79b9_7f4a_7c15_u64 ^ u64::from(self.cap);
        let mut mix = |value: u64| {
            key = (key ^ value).wrapping_mul(0xff51_afd7_ed55_8ccd);
            key ^= key >> 32;
        };
        for s in part.first..part.last {
            mix(u64::from(self.floor[s as usize]) << 32 | u64::from(s));
        }
        for i in part.from..part.to {
            mix(u64::from(self.stack[i as usize]));
        }
        key | 1
    }

    /// Chooses the section with the fewest cases, and pushes its candidates, the preferred first.
    fn choose(&mut self, part: Subproblem) -> Choice {
        self.mark_valleys(part);
        let is_candidate = |search: &PlacementSearch, b: usize| {
            let valley = search.valley[search.lo[b] as usize];
            valley != 0
                && valley == search.valley[search.hi[b] as usize - 1]
                && search.lowest[b] == search.floor[search.lo[b] as usize]
        };
        self.count[part.first as usize..part.last as usize].fill(0);
        for i in part.from..part.to {
            let b = self.stack[i as usize] as usize;
            if is_candidate(self, b) {
                let span = self.lo[b] as usize..self.hi[b] as usize;
                self.count[span].iter_mut().for_each(|c| *c += 1);
            }
        }
        let mut best = (u64::MAX, part.first as usize);
        for s in part.first as usize..part.last as usize {
            if self.valley[s] != 0 && self.count[s] != 0 {
                let slack = self.cap - self.floor[s] - self.rest[s];
                let count = u64::from(self.count[s]) + u64::from(slack > 0) * 2;
                best = best.min(((count << 32) / u64::from(self.weight[s]), s));
            }
        }
        let (s, valley) = (best.1, self.valley[best.1]);
        let floor = self.floor[s];
        let base = self.cases.len();
        let from =
            (part.first as usize..s).rev().find(|&t| self.valley[t] != valley).map_or(part.first, |t| t as u32 + 1);
        let to = (s..part.last as usize).find(|&t| self.valley[t] != valley).map_or(part.last, |t| t as u32);
        // The lowest offset without a candidate on the floor at s: on another buffer of the valley, or where it is higher.
        let (mut next, mut least) = (WALL, WALL);
        for i in part.from..part.to {
            let b = self.stack[i as usize] as usize;
            let is_here = self.lo[b] as usize <= s && s < self.hi[b] as usize;
            if is_candidate(self, b) && self.valley[self.lo[b] as usize] == valley {
                least = least.min(floor + self.size[b]);
                if is_here {
                    self.cases.push((self.preference(part, from, to, b), b as u32));
                }
                continue;
            }
            if self.lo[b] < to && from < self.hi[b] {
                least = least.min(self.lowest[b] + self.size[b]);
            }
            if is_here {
                next = next.min(self.lowest[b]);
            }
        }
        self.cases[base..].sort_unstable_by_key(|&(rank, b)| (std::cmp::Reverse(rank), b));
        next = next.min(least);
        Choice { section: s as u32, floor, next }
    }

    /// Returns the preference of a candidate in the valley of sections `from..to`: larger if it ends where the valley
    /// or its walls do.
    fn preference(&self, part: Subproblem, from: u32, to: u32, b: usize) -> u64 {
        if !self.prefers_fit {
            return self.rank[b];
        }
        let (is_left, is_right) = (self.lo[b] == from, self.hi[b] == to);
        let top = self.floor[from as usize] + self.size[b];
        let left = if from > part.first { self.floor[from as usize - 1] } else { WALL };
        let right = if to < part.last { self.floor[to as usize] } else { WALL };
        let mut bonus = 0;
        bonus += u32::from(is_left) + u32::from(is_right);
        bonus += 2 * u32::from(is_left && top == left) + 2 * u32::from(is_right && top == right);
        self.rank[b] << bonus.min(4)
    }

    /// Numbers the valleys from 1; other sections are 0.
    fn mark_valleys(&mut self, part: Subproblem) {
        let (first, last) = (part.first as usize, part.last as usize);
        let (mut from, mut number) = (first, 0);
        while from < last {
            let floor = self.floor[from];
            let to = (from..last).find(|&s| self.floor[s] != floor).unwrap_or(last);
            let is_low = (from == first || self.floor[from - 1] > floor) && (to == last || self.floor[to] > floor);
            number += 1;
            self.valley[from..to].fill(if is_low && floor != WALL { number } else { 0 });
            from = to;
        }
    }
}
