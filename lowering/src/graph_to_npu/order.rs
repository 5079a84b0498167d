//! Tokens: orders the units of a program by the bytes that its instructions access.
//!
//! Each pair of a unit and a queue has a token. An instruction waits for the last instruction of another unit whose bytes it reads or
//! writes, unless its queue knows already that this one has completed. Signals and waits of a pair are in the same order, so counting
//! tokens pair up.

use super::extent::{Extent, Space, extents};
use gradus_simulators::join_clocks;
use gradus_simulators::npu::{NpuInst, NpuMachine, Queue, Unit};

/// Number of units.
const NUM_UNITS: usize = Unit::ALL.len();
/// Number of queues.
const NUM_QUEUES: usize = 3;

/// The last instruction, by its number from 1, of each unit that is known to have completed.
type Clock = [u32; NUM_UNITS];

/// An operand of an instruction that later ones may have to wait for.
#[derive(Clone, Copy)]
struct Earlier {
    unit: Unit,
    number: u32,
    extent: Extent,
}

/// A program under construction.
#[derive(Default)]
pub struct Ordered {
    /// Instructions with the waits before them, without signals.
    all: Vec<NpuInst>,
    /// For each instruction of `all` its unit and number; waits have none.
    numbers: Vec<Option<(Unit, u32)>>,
    /// Number of instructions of each unit.
    counts: [u32; NUM_UNITS],
    /// The instructions that each queue knows to have completed.
    known: [Clock; NUM_QUEUES],
    /// The clock of its queue when each instruction was issued, by unit.
    clocks: [Vec<Clock>; NUM_UNITS],
    /// Operands of instructions that are not known to have completed by all queues.
    earlier: Vec<Earlier>,
    /// The instructions that signal, with the queue.
    signals: Vec<(Unit, u32, Queue)>,
}

impl Ordered {
    /// Adds an instruction after the waits that it needs.
    pub fn push(&mut self, inst: NpuInst, machine: &NpuMachine) {
        let Some(unit) = inst.unit() else { return };
        let (queue, new) = (unit.queue(), extents(machine, &inst));
        let mut needed = [0; NUM_UNITS];
        for e in self.earlier.iter().filter(|e| e.unit != unit && new.iter().any(|n| n.conflicts(&e.extent))) {
            let slot = &mut needed[e.unit as usize];
            *slot = e.number.max(*slot);
        }
        // The latest first: what it knew may make others needless.
        for other in Unit::ALL.into_iter().filter(|&other| needed[other as usize] > 0) {
            let number = needed[other as usize];
            if self.known[queue as usize][other as usize] >= number {
                continue;
            }
            self.signals.push((other, number, queue));
            self.all.push(NpuInst::Wait { queue, token: token(other, queue) });
            self.numbers.push(None);
            let then = self.clocks[other as usize][number as usize - 1];
            let known = &mut self.known[queue as usize];
            join_clocks(known, &then);
            known[other as usize] = number;
        }
        let number = self.counts[unit as usize] + 1;
        self.counts[unit as usize] = number;
        self.clocks[unit as usize].push(self.known[queue as usize]);
        self.all.push(inst);
        self.numbers.push(Some((unit, number)));
        let known = &self.known;
        self.earlier.retain(|e| {
            let is_over = known.iter().all(|clock| clock[e.unit as usize] >= e.number);
            // A later access of the same unit to all of its bytes stands for it.
            let is_covered = e.unit == unit && new.iter().any(|n| n.covers(&e.extent));
            !is_over && !is_covered
        });
        self.earlier.extend(new.into_iter().map(|extent| Earlier { unit, number, extent }));
    }

    /// Returns the program with its signals and its end.
    pub fn finish(mut self) -> Vec<NpuInst> {
        self.signals.sort_by_key(|&(unit, number, queue)| (unit, number, queue));
        let mut out = Vec::with_capacity(self.all.len() + self.signals.len() + 1);
        for (inst, number) in self.all.iter().zip(&self.numbers) {
            out.push(*inst);
            let Some((unit, number)) = *number else { continue };
            let first = self.signals.partition_point(|&(u, n, _)| (u, n) < (unit, number));
            let here = self.signals[first..].iter().take_while(|&&(u, n, _)| (u, n) == (unit, number));
            out.extend(here.map(|&(unit, _, queue)| NpuInst::Signal { unit, token: token(unit, queue) }));
        }
        out.push(NpuInst::End);
        out
    }
}

/// The token of a unit and a queue.
fn token(unit: Unit, queue: Queue) -> u8 {
    (unit as usize * NUM_QUEUES + queue as usize) as u8
}

/// Whether a convolution reads bytes of SRAM that a requantization writes, or writes bytes that it reads.
pub fn reads_result(conv: &NpuInst, post: &NpuInst, machine: &NpuMachine) -> bool {
    let (conv, post) = (extents(machine, conv), extents(machine, post));
    conv.iter().any(|c| c.space == Space::Sram && post.iter().any(|p| c.conflicts(p)))
}
