//! The reasons for which a program is rejected.

use std::fmt;
use std::ops::Range;

/// A memory of the machine.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub enum MemoryId {
    /// The memory of a cluster.
    Cluster(usize),
    /// DDR.
    Ddr,
}

impl fmt::Display for MemoryId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MemoryId::Cluster(i) => write!(f, "SPM of cluster {i}"),
            MemoryId::Ddr => f.write_str("DDR"),
        }
    }
}

/// Classes of faults.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub enum FaultClass {
    /// The machine, the number of clusters or the map of operands and results.
    Program,
    /// A field is out of its range.
    Field,
    /// An access beyond the end of a memory.
    Bounds,
    /// A write to the constants.
    Constants,
    /// A record accesses a byte twice, or writes a byte that it also reads.
    Overlap,
    /// A read of a byte that was never written, or a result that was not.
    Poison,
    /// A read that is not ordered after a write.
    ReadAfterWrite,
    /// A write that is not ordered after a read.
    WriteAfterRead,
    /// A write that is not ordered after another one.
    WriteAfterWrite,
    /// A wait for another count than that of all increments.
    Count,
    /// Waits that wait for each other.
    Deadlock,
    /// More work than the limit of the simulation.
    Limit,
}

impl FaultClass {
    /// Returns the name in messages.
    pub fn name(self) -> &'static str {
        match self {
            FaultClass::Program => "program",
            FaultClass::Field => "field",
            FaultClass::Bounds => "bounds",
            FaultClass::Constants => "constants",
            FaultClass::Overlap => "overlap",
            FaultClass::Poison => "poison",
            FaultClass::ReadAfterWrite => "read after write",
            FaultClass::WriteAfterRead => "write after read",
            FaultClass::WriteAfterWrite => "write after write",
            FaultClass::Count => "count",
            FaultClass::Deadlock => "deadlock",
            FaultClass::Limit => "limit",
        }
    }
}

/// A record of a program.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord, Default)]
pub struct Position {
    /// The cluster.
    pub cluster: u32,
    /// Index among the records of the cluster.
    pub index: u32,
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "record {} of cluster {}", self.index, self.cluster)
    }
}

/// A rejected program: the class, the records, and the bytes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fault {
    /// The class.
    pub class: FaultClass,
    /// The record; `None` if the fault is the program's.
    pub at: Option<Position>,
    /// The record with which it conflicts.
    pub other: Option<Position>,
    /// The bytes that are concerned.
    pub place: Option<(MemoryId, Range<u64>)>,
    /// Waits each of which waits for an increment behind the next one, and the last for one behind the first.
    pub waits: Vec<Position>,
    /// The violated rule.
    pub reason: &'static str,
}

impl Fault {
    pub(super) fn of_program(reason: &'static str) -> Fault {
        Fault { class: FaultClass::Program, at: None, other: None, place: None, waits: Vec::new(), reason }
    }

    pub(super) fn new(class: FaultClass, at: Position, reason: &'static str) -> Fault {
        Fault { class, at: Some(at), other: None, place: None, waits: Vec::new(), reason }
    }

    pub(super) fn place(mut self, memory: MemoryId, range: Range<u64>) -> Fault {
        self.place = Some((memory, range));
        self
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(at) = self.at {
            write!(f, "{at}: ")?;
        }
        write!(f, "{}: {}", self.class.name(), self.reason)?;
        if let Some(other) = self.other {
            write!(f, ", with {other}")?;
        }
        if let Some((memory, range)) = &self.place {
            write!(f, ", at bytes {} to {} of {memory}", range.start, range.end.saturating_sub(1))?;
        }
        self.waits.iter().enumerate().try_for_each(|(i, wait)| write!(f, "{}{wait}", if i == 0 { ": " } else { ", " }))
    }
}

impl std::error::Error for Fault {}
