//! Moves of slices within SRAM: `move`.

use super::operation::Operation;
use crate::fields::records;
use crate::npu::access::{AccessSet, MemorySizes, check_bytes, for_each_run, offset, read, runs, write};
use crate::npu::check::rules;
use crate::npu::values::{Ddr, Memories};
use crate::npu::{AddressSpace, Cost, Fault, FaultClass, NpuMachine};

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
pub(super) struct Slices(pub Move);

impl Operation for Slices {
    fn check(&self, _: &NpuMachine) -> Result<(), &'static str> {
        rules(&[
            ((1..=64).contains(&self.0.slice), "a slice has 1 to 64 bytes"),
            (self.0.counts.iter().all(|&n| n >= 1), "a number of slices is at least 1"),
        ])
    }

    fn cost(&self, machine: &NpuMachine) -> Cost {
        let slices = self.0.counts.iter().fold(1u64, |n, &c| n.saturating_mul(c.into()));
        Cost { cycles: slices.saturating_add(machine.move_start.into()), ..Cost::default() }
    }

    fn accesses(&self, _: &NpuMachine, sizes: MemorySizes, at: usize) -> Result<Vec<AccessSet>, Fault> {
        let m = &self.0;
        check_bytes(m.slice, &m.counts, sizes.sram, at)?;
        let twice = Fault::new(FaultClass::Overlap, at, "a move writes a byte twice");
        Ok(vec![
            read(AddressSpace::Sram, false, runs(m.from, m.slice, &m.counts, &m.from_strides)),
            write(AddressSpace::Sram, runs(m.to, m.slice, &m.counts, &m.to_strides)).ok_or(twice)?,
        ])
    }

    fn work(&self) -> u64 {
        self.0.counts.iter().fold(self.0.slice.into(), |n: u64, &c| n.saturating_mul(c.into()))
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
