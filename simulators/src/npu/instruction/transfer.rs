//! Transfers between DDR and SRAM: `load`, `store`.

use super::operation::Operation;
use crate::npu::access::{AccessSet, MemorySizes, check_bytes, for_each_run, offset, read, runs, write};
use crate::npu::check::rules;
use crate::npu::cost::MAX_STEPS;
use crate::npu::operands::Transfer;
use crate::npu::values::{Ddr, Memories};
use crate::npu::{AddressSpace, Cost, Fault, FaultClass, NpuMachine, Statistics};

impl Transfer {
    /// Reduces addresses to those of the same cost.
    pub(in crate::npu) fn align(&mut self, machine: &NpuMachine) {
        (self.ddr, self.sram) = (self.ddr % machine.burst, 0);
    }

    /// Calls `f` with the contiguous runs in DDR, adjacent ones merged, as addresses and lengths.
    pub(in crate::npu) fn for_each_ddr_run(&self, mut f: impl FnMut(u64, u64)) {
        let t = self;
        let (mut run, mut counts) = (u64::from(t.run), t.counts);
        for i in (0..3).rev() {
            if counts[i] != 1 && u64::from(t.ddr_strides[i]) != run {
                break;
            }
            run *= u64::from(counts[i]);
            counts[i] = 1;
        }
        for_each_run(&counts, |index| f(u64::from(t.ddr) + offset(index, &t.ddr_strides), run));
    }

    fn check(&self) -> Result<(), &'static str> {
        rules(&[
            (self.run >= 1, "a run has at least 1 byte"),
            (self.counts.iter().all(|&n| n >= 1), "a number of runs is at least 1"),
        ])
    }

    fn is_bounded(&self) -> bool {
        self.counts.iter().try_fold(1u64, |n, &c| n.checked_mul(c.into())).is_some_and(|runs| runs <= MAX_STEPS)
    }

    /// Number of bytes.
    fn bytes(&self) -> u64 {
        self.counts.iter().fold(u64::from(self.run), |n, &c| n.saturating_mul(c.into()))
    }

    fn cost(&self, machine: &NpuMachine, latency: u32) -> Cost {
        let (burst, mut bursts) = (u64::from(machine.burst), 0);
        self.for_each_ddr_run(|start, len| bursts += (start + len).div_ceil(burst) - start / burst);
        let ddr_bytes = bursts * burst;
        let cycles = (ddr_bytes * 4).div_ceil(machine.ddr_rate.into());
        Cost { cycles, latency: latency.into(), ddr_bytes, ..Cost::default() }
    }
}

/// DDR to SRAM.
pub(super) struct Load(pub Transfer);

impl Operation for Load {
    fn check(&self, _: &NpuMachine) -> Result<(), &'static str> {
        self.0.check()
    }

    fn is_bounded(&self, _: &NpuMachine) -> bool {
        self.0.is_bounded()
    }

    fn cost(&self, machine: &NpuMachine) -> Cost {
        self.0.cost(machine, machine.read_latency)
    }

    fn accesses(&self, _: &NpuMachine, sizes: MemorySizes, at: usize) -> Result<Vec<AccessSet>, Fault> {
        let t = &self.0;
        check_bytes(t.run, &t.counts, sizes.sram, at)?;
        let twice = Fault::new(FaultClass::Overlap, at, "a load writes a byte twice");
        Ok(vec![
            read(AddressSpace::Ddr, false, runs(t.ddr, t.run, &t.counts, &t.ddr_strides)),
            write(AddressSpace::Sram, runs(t.sram, t.run, &t.counts, &t.sram_strides)).ok_or(twice)?,
        ])
    }

    fn work(&self) -> u64 {
        self.0.bytes()
    }

    fn count(&self, statistics: &mut Statistics) {
        statistics.ddr_bytes_read += self.0.bytes();
    }

    fn execute(&self, _: &NpuMachine, memories: &mut Memories, ddr: &mut Ddr, _: usize) -> Result<(), Fault> {
        let t = &self.0;
        for_each_run(&t.counts, |index| {
            let from = t.ddr as usize + offset(index, &t.ddr_strides) as usize;
            let to = t.sram as usize + offset(index, &t.sram_strides) as usize;
            let n = t.run as usize;
            memories.sram[to..to + n].copy_from_slice(&ddr.bytes[from..from + n]);
            memories.sram_initialized[to..to + n].copy_from_slice(&ddr.initialized[from..from + n]);
        });
        Ok(())
    }

    fn transfer(&self) -> Option<Transfer> {
        Some(self.0)
    }
}

/// SRAM to DDR.
pub(super) struct Store(pub Transfer);

impl Operation for Store {
    fn check(&self, _: &NpuMachine) -> Result<(), &'static str> {
        self.0.check()
    }

    fn is_bounded(&self, _: &NpuMachine) -> bool {
        self.0.is_bounded()
    }

    fn cost(&self, machine: &NpuMachine) -> Cost {
        self.0.cost(machine, machine.write_latency)
    }

    fn accesses(&self, _: &NpuMachine, sizes: MemorySizes, at: usize) -> Result<Vec<AccessSet>, Fault> {
        let t = &self.0;
        check_bytes(t.run, &t.counts, sizes.ddr, at)?;
        let twice = Fault::new(FaultClass::Overlap, at, "a store writes a byte twice");
        Ok(vec![
            read(AddressSpace::Sram, false, runs(t.sram, t.run, &t.counts, &t.sram_strides)),
            write(AddressSpace::Ddr, runs(t.ddr, t.run, &t.counts, &t.ddr_strides)).ok_or(twice)?,
        ])
    }

    fn work(&self) -> u64 {
        self.0.bytes()
    }

    fn count(&self, statistics: &mut Statistics) {
        statistics.ddr_bytes_written += self.0.bytes();
    }

    fn execute(&self, _: &NpuMachine, memories: &mut Memories, ddr: &mut Ddr, _: usize) -> Result<(), Fault> {
        let t = &self.0;
        for_each_run(&t.counts, |index| {
            let to = t.ddr as usize + offset(index, &t.ddr_strides) as usize;
            let from = t.sram as usize + offset(index, &t.sram_strides) as usize;
            let n = t.run as usize;
            ddr.bytes[to..to + n].copy_from_slice(&memories.sram[from..from + n]);
            ddr.initialized[to..to + n].copy_from_slice(&memories.sram_initialized[from..from + n]);
        });
        Ok(())
    }

    fn transfer(&self) -> Option<Transfer> {
        Some(self.0)
    }
}
