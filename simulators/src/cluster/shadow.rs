//! The last accesses of each byte of a memory, by ranges.

use super::{FaultClass, Position};
use crate::happens_before::RangeMap;
use std::collections::HashMap;
use std::ops::Range;

/// Who wrote a range.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum LastWriter {
    /// The host, before the program.
    Host,
    /// A record.
    Record(Position),
}

/// The last accesses of a range.
#[derive(Clone, Copy)]
struct LastAccesses {
    writer: LastWriter,
    /// Records that read it since, as a set of [`Readers`].
    readers: u32,
}

/// Sets of records, by number; set 0 is empty.
pub(super) struct Readers {
    sets: Vec<Vec<Position>>,
    /// The sets with the present record, by the sets without it.
    with: HashMap<u32, u32>,
}

impl Default for Readers {
    fn default() -> Readers {
        Readers { sets: vec![Vec::new()], with: HashMap::new() }
    }
}

impl Readers {
    /// Begins the accesses of another record.
    pub fn begin(&mut self) {
        self.with.clear();
    }

    /// Returns the set with a record, without those that are complete before it.
    fn with(&mut self, set: u32, reader: Position, order: &dyn AccessOrder) -> u32 {
        if let Some(&known) = self.with.get(&set) {
            return known;
        }
        let old = &self.sets[set as usize];
        let rest = old.iter().copied().filter(|&other| other != reader && !order.is_read(other));
        let new = rest.chain([reader]).collect();
        let number = self.sets.len() as u32;
        self.sets.push(new);
        self.with.insert(set, number);
        number
    }
}

/// The order of earlier accesses and the present one.
pub(super) trait AccessOrder {
    /// Whether a record's write to the memory of the access is complete.
    fn is_written(&self, writer: Position) -> bool;
    /// Whether a record's read is complete.
    fn is_read(&self, reader: Position) -> bool;
}

/// A conflict of an access with an earlier one.
pub(super) struct Conflict {
    pub class: FaultClass,
    pub other: Option<Position>,
    pub range: Range<u64>,
}

/// The last accesses of a memory.
#[derive(Default)]
pub(super) struct Shadow(RangeMap<LastAccesses>);

impl Shadow {
    /// Records a write by the host.
    pub fn host(&mut self, range: &Range<u64>) {
        self.0.set(range, LastAccesses { writer: LastWriter::Host, readers: 0 });
    }

    /// Records a read.
    ///
    /// # Errors
    /// A write that is not complete, and bytes that were never written.
    pub fn read(
        &mut self,
        range: &Range<u64>,
        reader: Position,
        order: &dyn AccessOrder,
        readers: &mut Readers,
    ) -> Result<(), Conflict> {
        let poison = |range| Err(Conflict { class: FaultClass::Poison, other: None, range });
        let mut at = range.start;
        for (part, last) in self.0.inside(range) {
            if part.start > at {
                return poison(at..part.start);
            }
            at = part.end;
            match last.writer {
                LastWriter::Record(writer) if !order.is_written(writer) => {
                    return Err(Conflict { class: FaultClass::ReadAfterWrite, other: Some(writer), range: part });
                }
                _ => last.readers = readers.with(last.readers, reader, order),
            }
        }
        if at < range.end { poison(at..range.end) } else { Ok(()) }
    }

    /// Records a write.
    ///
    /// # Errors
    /// A read or write that is not complete.
    pub fn write(
        &mut self,
        range: &Range<u64>,
        writer: Position,
        order: &dyn AccessOrder,
        readers: &Readers,
    ) -> Result<(), Conflict> {
        for (part, last) in self.0.overlapping(range) {
            let conflict = |class, other| Err(Conflict { class, other: Some(other), range: part });
            // The record's own reads come before its write.
            let reads = readers.sets[last.readers as usize].iter();
            if let Some(&other) = reads.into_iter().find(|&&other| other != writer && !order.is_read(other)) {
                return conflict(FaultClass::WriteAfterRead, other);
            }
            match last.writer {
                LastWriter::Record(other) if !order.is_written(other) => {
                    return conflict(FaultClass::WriteAfterWrite, other);
                }
                _ => {}
            }
        }
        self.0.set(range, LastAccesses { writer: LastWriter::Record(writer), readers: 0 });
        Ok(())
    }

    /// Returns the first bytes of a range that were never written.
    pub fn unwritten(&self, range: &Range<u64>) -> Option<Range<u64>> {
        let mut at = range.start;
        for (part, _) in self.0.overlapping(range) {
            if part.start > at {
                return Some(at..part.start);
            }
            at = part.end;
        }
        (at < range.end).then_some(at..range.end)
    }
}
