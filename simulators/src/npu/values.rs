//! The memories. Accesses are checked before they are executed; no index is out of bounds.

use super::access::AccessSet;
use super::{AddressSpace, NpuMachine};

/// Bytes of DDR, with a flag for each whether it is initialized.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Ddr {
    /// The bytes.
    pub bytes: Vec<u8>,
    /// Whether each byte is initialized; the others are poison.
    pub initialized: Vec<bool>,
}

impl Ddr {
    /// Creates a memory of poison.
    pub fn new(size: usize) -> Ddr {
        Ddr { bytes: vec![0; size], initialized: vec![false; size] }
    }

    /// Writes bytes, which are initialized from then on.
    ///
    /// # Panics
    /// If they do not fit.
    pub fn write(&mut self, at: usize, bytes: &[u8]) {
        self.bytes[at..at + bytes.len()].copy_from_slice(bytes);
        self.initialized[at..at + bytes.len()].fill(true);
    }

    /// Returns `len` bytes; `None` if they are out of bounds or poison.
    pub fn read(&self, at: usize, len: usize) -> Option<&[u8]> {
        let end = at.checked_add(len)?;
        let flags = self.initialized.get(at..end)?;
        flags.iter().all(|&flag| flag).then(|| self.bytes.get(at..end))?
    }
}

/// SRAM and accumulators.
pub(super) struct Memories {
    pub sram: Vec<u8>,
    pub sram_initialized: Vec<bool>,
    pub accumulators: Vec<i32>,
    pub accumulators_initialized: Vec<bool>,
}

impl Memories {
    /// Creates memories of poison, with `fill` as their bytes.
    pub fn new(machine: &NpuMachine, fill: u8) -> Memories {
        let (bytes, accumulators) = (machine.sram_bytes as usize, machine.accumulators as usize);
        Memories {
            sram: vec![fill; bytes],
            sram_initialized: vec![false; bytes],
            accumulators: vec![i32::from_le_bytes([fill; 4]); accumulators],
            accumulators_initialized: vec![false; accumulators],
        }
    }

    /// Marks the results of array and pipe as initialized.
    pub fn initialize<'a>(&mut self, written: impl Iterator<Item = &'a AccessSet>) {
        for access in written {
            let flags = match access.memory {
                AddressSpace::Sram => &mut self.sram_initialized,
                AddressSpace::Accumulators => &mut self.accumulators_initialized,
                AddressSpace::Ddr => continue,
            };
            access.ranges.iter().for_each(|r| flags[r.start as usize..r.end as usize].fill(true));
        }
    }
}

/// Returns the index of an accumulator.
#[inline]
pub(super) fn accumulator(machine: &NpuMachine, acc: u32, positions: usize, p: usize, k: usize) -> usize {
    let unit = machine.kernels as usize;
    acc as usize + ((k / unit) * positions + p) * unit + k % unit
}
