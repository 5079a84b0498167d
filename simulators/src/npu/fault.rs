//! The reasons for which a program is rejected.

use std::fmt;

/// A memory of the machine.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub enum AddressSpace {
    /// SRAM, addressed in bytes.
    Sram,
    /// Accumulators, addressed one by one.
    Accumulators,
    /// DDR, addressed in bytes.
    Ddr,
}

impl AddressSpace {
    /// All memories.
    pub const ALL: [AddressSpace; 3] = [AddressSpace::Sram, AddressSpace::Accumulators, AddressSpace::Ddr];
}

/// Classes of faults.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub enum FaultClass {
    /// A field is out of its range.
    Field,
    /// An access beyond the end of a memory.
    Bounds,
    /// A result depends on a byte or an accumulator that was never written.
    Poison,
    /// A read that is not ordered after a write of another unit.
    ReadAfterWrite,
    /// A write that is not ordered after a read of another unit.
    WriteAfterRead,
    /// A write that is not ordered after a write of another unit.
    WriteAfterWrite,
    /// An instruction writes a byte twice, or a byte that it also reads.
    Overlap,
    /// A sum exceeds the 32 bits of its accumulator.
    Overflow,
    /// Queues wait for tokens that never come.
    Deadlock,
    /// A token is signalled more often than its counter holds.
    TokenOverflow,
    /// Signals, or waits, of a token that are not ordered: latencies decide which belong together.
    TokenRace,
    /// `end` is missing, or is not the last instruction.
    End,
    /// More work than the limit of the simulation.
    Limit,
}

impl FaultClass {
    /// Returns the name in messages.
    pub fn name(self) -> &'static str {
        match self {
            FaultClass::Field => "field",
            FaultClass::Bounds => "bounds",
            FaultClass::Poison => "poison",
            FaultClass::ReadAfterWrite => "read after write",
            FaultClass::WriteAfterRead => "write after read",
            FaultClass::WriteAfterWrite => "write after write",
            FaultClass::Overlap => "overlap",
            FaultClass::Overflow => "overflow",
            FaultClass::Deadlock => "deadlock",
            FaultClass::TokenOverflow => "token overflow",
            FaultClass::TokenRace => "token race",
            FaultClass::End => "end",
            FaultClass::Limit => "limit",
        }
    }
}

/// A rejected program: the class, the instructions, and the address.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Fault {
    /// The class.
    pub class: FaultClass,
    /// Index of the instruction.
    pub at: usize,
    /// Index of the instruction with which it conflicts.
    pub other: Option<usize>,
    /// The first address that is concerned.
    pub place: Option<(AddressSpace, u64)>,
    /// The violated rule.
    pub reason: &'static str,
}

impl Fault {
    /// Creates a fault of one instruction without an address.
    pub fn new(class: FaultClass, at: usize, reason: &'static str) -> Fault {
        Fault { class, at, other: None, place: None, reason }
    }

    pub(super) fn place(mut self, memory: AddressSpace, address: u64) -> Fault {
        self.place = Some((memory, address));
        self
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "instruction {}: {}: {}", self.at, self.class.name(), self.reason)?;
        if let Some(other) = self.other {
            write!(f, ", with instruction {other}")?;
        }
        match self.place {
            Some((AddressSpace::Sram, address)) => write!(f, ", at SRAM byte {address}"),
            Some((AddressSpace::Accumulators, index)) => write!(f, ", at accumulator {index}"),
            Some((AddressSpace::Ddr, address)) => write!(f, ", at DDR byte {address}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for Fault {}
