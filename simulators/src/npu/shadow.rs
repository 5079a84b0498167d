//! Happens-before: vector clocks, and the last accesses of each address.

use super::{AddressSpace, Fault, FaultClass, Unit};
use crate::happens_before::{RangeMap, join_clocks};
use std::ops::Range;

/// Number of units.
pub(super) const UNITS: usize = Unit::ALL.len();
/// Number of queues.
pub(super) const QUEUES: usize = 3;

/// A vector clock: the events of each kind that are known to have happened.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Clock {
    /// Completed instructions of each unit.
    pub done: [u32; UNITS],
    /// Fired signals of each unit.
    pub signals: [u32; UNITS],
    /// Passed waits of each queue.
    pub waits: [u32; QUEUES],
}

impl Clock {
    /// Takes over the events that another clock knows.
    pub fn join(&mut self, other: &Clock) {
        join_clocks(&mut self.done, &other.done);
        join_clocks(&mut self.signals, &other.signals);
        join_clocks(&mut self.waits, &other.waits);
    }
}

/// The last accesses of a range.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Last {
    /// Unit and number of the instruction that wrote it; number 0 if none did.
    writer: (u8, u32),
    /// Number of the last instruction of each unit that read it.
    readers: [u32; UNITS],
}

/// A conflict of an access with an instruction: number `number` of `unit`.
#[derive(Clone, Copy)]
pub(super) struct Conflict {
    pub class: FaultClass,
    pub unit: usize,
    pub number: u32,
    pub address: u64,
}

/// The last accesses of a memory.
#[derive(Default)]
pub(super) struct Shadow(RangeMap<Last>);

impl Shadow {
    /// Returns the first conflict of an access with earlier ones that the clock does not know.
    pub fn conflict(&self, range: &Range<u64>, writes: bool, clock: &Clock) -> Option<Conflict> {
        self.0.overlapping(range).find_map(|(part, last)| {
            let (unit, number) = (usize::from(last.writer.0), last.writer.1);
            let conflict = |class, unit, number| Some(Conflict { class, unit, number, address: part.start });
            if number > clock.done[unit] {
                let class = if writes { FaultClass::WriteAfterWrite } else { FaultClass::ReadAfterWrite };
                return conflict(class, unit, number);
            }
            let reader = (0..UNITS).find(|&unit| writes && last.readers[unit] > clock.done[unit]);
            reader.and_then(|unit| conflict(FaultClass::WriteAfterRead, unit, last.readers[unit]))
        })
    }

    /// Records an access of instruction `number` of `unit`.
    pub fn record(&mut self, range: &Range<u64>, writes: bool, unit: usize, number: u32) {
        if writes {
            return self.0.set(range, Last { writer: (unit as u8, number), readers: [0; UNITS] });
        }
        let (mut at, mut gaps) = (range.start, Vec::new());
        for (part, last) in self.0.inside(range) {
            if part.start > at {
                gaps.push(at..part.start);
            }
            last.readers[unit] = number;
            at = part.end;
        }
        if at < range.end {
            gaps.push(at..range.end);
        }
        let mut last = Last { writer: (0, 0), readers: [0; UNITS] };
        last.readers[unit] = number;
        gaps.iter().for_each(|gap| self.0.set(gap, last));
    }
}

/// A counter of signals that were not waited for, oldest first.
#[derive(Default)]
pub(super) struct Token {
    /// Cycle and clock of each.
    pub pending: std::collections::VecDeque<(u64, Clock)>,
    /// Unit and number of the last signal.
    pub last_signal: Option<(usize, u32, usize)>,
    /// Queue and number of the last wait.
    pub last_wait: Option<(usize, u32, usize)>,
}

/// Largest value of a token.
pub(super) const MAX_TOKEN: usize = 255;

impl Token {
    /// Adds a signal, the instruction `at`, that fires at `cycle` as number `number` of `unit`.
    ///
    /// # Errors
    /// A signal that is not ordered after the last one, and an overflow.
    pub fn signal(&mut self, unit: usize, number: u32, cycle: u64, clock: Clock, at: usize) -> Result<(), Fault> {
        if let Some((last, n, other)) = self.last_signal.filter(|&(u, n, _)| u != unit && clock.signals[u] < n) {
            let _ = (last, n);
            let fault = Fault::new(FaultClass::TokenRace, at, "two signals of a token are not ordered");
            return Err(Fault { other: Some(other), ..fault });
        }
        if self.pending.len() >= MAX_TOKEN {
            return Err(Fault::new(FaultClass::TokenOverflow, at, "a token exceeds 255"));
        }
        self.last_signal = Some((unit, number, at));
        self.pending.push_back((cycle, clock));
        Ok(())
    }

    /// Checks that a wait, the instruction `at`, is ordered after the last one; it is number `number` of `queue`.
    ///
    /// # Errors
    /// A wait that is not ordered.
    pub fn wait(&mut self, queue: usize, number: u32, clock: &Clock, at: usize) -> Result<(), Fault> {
        if let Some((_, _, other)) = self.last_wait.filter(|&(q, n, _)| q != queue && clock.waits[q] < n) {
            let fault = Fault::new(FaultClass::TokenRace, at, "two waits of a token are not ordered");
            return Err(Fault { other: Some(other), ..fault });
        }
        self.last_wait = Some((queue, number, at));
        Ok(())
    }
}

/// Returns the first address at which one of `ranges` is poison.
pub(super) fn first_poison(initialized: &[bool], ranges: &[Range<u64>]) -> Option<u64> {
    ranges.iter().find_map(|r| {
        let flags = &initialized[r.start as usize..r.end as usize];
        let is_clean = flags.iter().fold(true, |all, &flag| all & flag);
        if is_clean { None } else { flags.iter().position(|&flag| !flag).map(|i| r.start + i as u64) }
    })
}

/// The shadows of all memories.
#[derive(Default)]
pub(super) struct Shadows([Shadow; AddressSpace::ALL.len()]);

impl Shadows {
    /// Returns the shadow of a memory.
    pub fn of(&mut self, memory: AddressSpace) -> &mut Shadow {
        &mut self.0[memory as usize]
    }
}
