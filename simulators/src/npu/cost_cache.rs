//! Costs of instructions, those of equal shape and alignment once.

use super::{Cost, NpuInst, NpuMachine, check};
use rustc_hash::FxHashMap;

/// Returns the cycles of an instruction by itself, without latency of DDR; 0 for tokens, `end`, and invalid fields.
pub fn cycles(machine: &NpuMachine, inst: &NpuInst) -> u64 {
    cost(machine, inst).cycles
}

/// Returns the cost of an instruction by itself; zeros for tokens, `end`, invalid fields, and more work than any memory
/// holds. O(taps * (blocks + positions)).
pub fn cost(machine: &NpuMachine, inst: &NpuInst) -> Cost {
    if machine.check().is_err() || check(machine, inst).is_err() || !is_bounded(machine, inst) {
        return Cost::default();
    }
    inst.of_unit(|inst| inst.cost(machine)).unwrap_or_default()
}

/// Costs of instructions, those of equal shape and alignment once.
pub(super) struct CostCache<'a> {
    machine: &'a NpuMachine,
    known: FxHashMap<NpuInst, Cost>,
}

impl<'a> CostCache<'a> {
    pub(super) fn new(machine: &'a NpuMachine) -> CostCache<'a> {
        CostCache { machine, known: FxHashMap::default() }
    }

    /// Returns the cost of a valid instruction, as [`cost`].
    pub(super) fn of(&mut self, inst: &NpuInst) -> Cost {
        let machine = self.machine;
        *self.known.entry(inst.aligned(machine)).or_insert_with(|| cost(machine, inst))
    }
}

/// Whether the cost takes bounded time: fields come from files. The simulator rejects other instructions.
pub(super) fn is_bounded(machine: &NpuMachine, inst: &NpuInst) -> bool {
    inst.of_unit(|inst| inst.is_bounded(machine)).unwrap_or(true)
}
