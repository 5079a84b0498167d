//! Transfers between DDR and SRAM: `load`, `store`.

use super::unit_instruction::UnitInstruction;
use crate::npu::access::{AccessSet, MemorySizes, copy_accesses, for_each_run, offset, total};
use crate::npu::check::rules;
use crate::npu::cost::MAX_STEPS;
use crate::npu::operands::Transfer;
use crate::npu::values::{Ddr, Memories};
use crate::npu::{AddressSpace, Cost, Fault, NpuMachine, Statistics};

impl Transfer {
    /// Reduces addresses to those of the same cost.
    pub(in crate::npu) fn align(&mut self, machine: &NpuMachine) {
        (self.ddr, self.sram) = (self.ddr % machine.burst, 0);
    }

    /// Calls `f` with the contiguous runs in DDR, adjacent ones merged, as addresses and lengths.
    pub(in crate::npu) fn for_each_ddr_run(&self, mut f: impl FnMut(u64, u64)) {
        let (mut run, mut counts) = (u64::from(self.run), self.counts);
        for i in (0..3).rev() {
            if counts[i] != 1 && u64::from(self.ddr_strides[i]) != run {
                break;
            }
            run *= u64::from(counts[i]);
            counts[i] = 1;
        }
        for_each_run(&counts, |index| f(u64::from(self.ddr) + offset(index, &self.ddr_strides), run));
    }
}

/// A transfer from DDR to SRAM, or from SRAM to DDR.
pub(super) struct TransferInstruction {
    pub transfer: Transfer,
    pub is_load: bool,
}

impl UnitInstruction for TransferInstruction {
    fn check(&self, _: &NpuMachine) -> Result<(), &'static str> {
        rules(&[
            (self.transfer.run >= 1, "a run has at least 1 byte"),
            (self.transfer.counts.iter().all(|&n| n >= 1), "a number of runs is at least 1"),
        ])
    }

    fn is_bounded(&self, _: &NpuMachine) -> bool {
        total(1, &self.transfer.counts) <= MAX_STEPS
    }

    fn cost(&self, machine: &NpuMachine) -> Cost {
        let latency = if self.is_load { machine.read_latency } else { machine.write_latency };
        let (burst, mut bursts) = (u64::from(machine.burst), 0);
        self.transfer.for_each_ddr_run(|start, len| bursts += (start + len).div_ceil(burst) - start / burst);
        let ddr_bytes = bursts * burst;
        let cycles = (ddr_bytes * 4).div_ceil(machine.ddr_rate.into());
        Cost { cycles, latency: latency.into(), ddr_bytes, ..Cost::default() }
    }

    fn accesses(&self, _: &NpuMachine, sizes: MemorySizes, at: usize) -> Result<Vec<AccessSet>, Fault> {
        let t = &self.transfer;
        let ddr = (AddressSpace::Ddr, t.ddr, &t.ddr_strides);
        let sram = (AddressSpace::Sram, t.sram, &t.sram_strides);
        let size = (t.run, &t.counts);
        match self.is_load {
            true => copy_accesses(size, [ddr, sram], sizes, (at, "a load writes a byte twice")),
            false => copy_accesses(size, [sram, ddr], sizes, (at, "a store writes a byte twice")),
        }
    }

    fn work(&self) -> u64 {
        total(self.transfer.run, &self.transfer.counts)
    }

    fn count(&self, statistics: &mut Statistics) {
        let bytes = if self.is_load { &mut statistics.ddr_bytes_read } else { &mut statistics.ddr_bytes_written };
        *bytes += self.work();
    }

    fn execute(&self, _: &NpuMachine, memories: &mut Memories, ddr: &mut Ddr, _: usize) -> Result<(), Fault> {
        let t = &self.transfer;
        for_each_run(&t.counts, |index| {
            let in_ddr = t.ddr as usize + offset(index, &t.ddr_strides) as usize;
            let in_sram = t.sram as usize + offset(index, &t.sram_strides) as usize;
            let (in_ddr, in_sram) = (in_ddr..in_ddr + t.run as usize, in_sram..in_sram + t.run as usize);
            if self.is_load {
                memories.sram[in_sram.clone()].copy_from_slice(&ddr.bytes[in_ddr.clone()]);
                memories.sram_initialized[in_sram].copy_from_slice(&ddr.initialized[in_ddr]);
            } else {
                ddr.bytes[in_ddr.clone()].copy_from_slice(&memories.sram[in_sram.clone()]);
                ddr.initialized[in_ddr].copy_from_slice(&memories.sram_initialized[in_sram]);
            }
        });
        Ok(())
    }

    fn transfer(&self) -> Option<Transfer> {
        Some(self.transfer)
    }
}
