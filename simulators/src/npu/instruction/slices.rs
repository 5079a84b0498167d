//! Moves of slices within SRAM: `move`.

use super::unit_instruction::UnitInstruction;
use crate::fields::records;
use crate::npu::access::{AccessSet, MemorySizes, copy_accesses, for_each_run, offset, total};
use crate::npu::check::rules;
use crate::npu::values::{Ddr, Memories};
use crate::npu::{AddressSpace, Cost, Fault, NpuMachine};

/// A list of slice moves within SRAM: slices of `slice` contiguous bytes, the last index fastest.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Move {
    /// First byte of the source.
    pub from: u32,
    /// First byte of the target.
    pub to: u32,
    /// Bytes of a slice, 1 to 64.
    pub slice: u32,
    /// Numbers of slices.
    pub counts: [u32; 4],
    /// Bytes between slices of the source; 0 repeats a slice.
    pub from_strides: [u32; 4],
    /// Bytes between slices of the target.
    pub to_strides: [u32; 4],
}

records! {
    Move { from, to, slice, counts, from_strides, to_strides }
}

impl Move {
    /// Reduces addresses to those of the same cost.
    pub(in crate::npu) fn align(&mut self, _: &NpuMachine) {
        (self.from, self.to) = (0, 0);
    }
}

/// Slices within SRAM.
pub(super) struct MoveInstruction(pub Move);

impl UnitInstruction for MoveInstruction {
    fn check(&self, _: &NpuMachine) -> Result<(), &'static str> {
        rules(&[
            ((1..=64).contains(&self.0.slice), "a slice has 1 to 64 bytes"),
            (self.0.counts.iter().all(|&n| n >= 1), "a number of slices is at least 1"),
        ])
    }

    fn cost(&self, machine: &NpuMachine) -> Cost {
        Cost { cycles: total(1, &self.0.counts).saturating_add(machine.move_start.into()), ..Cost::default() }
    }

    fn accesses(&self, _: &NpuMachine, sizes: MemorySizes, at: usize) -> Result<Vec<AccessSet>, Fault> {
        let m = &self.0;
        let [from, to] = [(m.from, &m.from_strides), (m.to, &m.to_strides)]
            .map(|(base, strides)| (AddressSpace::Sram, base, strides));
        copy_accesses((m.slice, &m.counts), [from, to], sizes, (at, "a move writes a byte twice"))
    }

    fn work(&self) -> u64 {
        total(self.0.slice, &self.0.counts)
    }

    fn execute(&self, _: &NpuMachine, memories: &mut Memories, _: &mut Ddr, _: usize) -> Result<(), Fault> {
        let m = &self.0;
        for_each_run(&m.counts, |index| {
            let from = m.from as usize + offset(index, &m.from_strides) as usize;
            let to = m.to as usize + offset(index, &m.to_strides) as usize;
            memories.sram.copy_within(from..from + m.slice as usize, to);
            memories.sram_initialized.copy_within(from..from + m.slice as usize, to);
        });
        Ok(())
    }
}
