//! The last accesses of each byte of a memory, by ranges.

use super::{FaultClass, Position};
use std::collections::{BTreeMap, HashMap};
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
struct ShadowRange {
    end: u64,
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

/// The last accesses of a memory, by disjoint ranges.
#[derive(Default)]
pub(super) struct Shadow {
    pieces: BTreeMap<u64, ShadowRange>,
}

impl Shadow {
    /// Divides the piece that contains `at`.
    fn split(&mut self, at: u64) {
        let Some((_, piece)) = self.pieces.range_mut(..at).next_back() else { return };
        if piece.end > at {
            let right = *piece;
            piece.end = at;
            self.pieces.insert(at, right);
        }
    }

    /// Records a write by the host.
    pub fn host(&mut self, range: Range<u64>) {
        if range.start < range.end {
            self.pieces.insert(range.start, ShadowRange { end: range.end, writer: LastWriter::Host, readers: 0 });
        }
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
        self.split(range.start);
        self.split(range.end);
        let poison = |range| Err(Conflict { class: FaultClass::Poison, other: None, range });
        let mut at = range.start;
        for (&start, piece) in self.pieces.range_mut(range.clone()) {
            if start > at {
                return poison(at..start);
            }
            match piece.writer {
                LastWriter::Record(writer) if !order.is_written(writer) => {
                    let class = FaultClass::ReadAfterWrite;
                    return Err(Conflict { class, other: Some(writer), range: start..piece.end });
                }
                _ => {}
            }
            piece.readers = readers.with(piece.readers, reader, order);
            at = piece.end;
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
        self.split(range.start);
        self.split(range.end);
        for (&start, piece) in self.pieces.range(range.clone()) {
            let conflict = |class, other| Err(Conflict { class, other: Some(other), range: start..piece.end });
            // The record's own reads come before its write.
            let reads = readers.sets[piece.readers as usize].iter();
            if let Some(&other) = reads.into_iter().find(|&&other| other != writer && !order.is_read(other)) {
                return conflict(FaultClass::WriteAfterRead, other);
            }
            match piece.writer {
                LastWriter::Record(other) if !order.is_written(other) => {
                    return conflict(FaultClass::WriteAfterWrite, other);
                }
                _ => {}
            }
        }
        let piece = ShadowRange { end: range.end, writer: LastWriter::Record(writer), readers: 0 };
        let mut inside = self.pieces.range_mut(range.clone());
        if let Some((&start, first)) = inside.next().filter(|(start, _)| **start == range.start) {
            // The usual case, without a change of the tree: the range of an earlier access.
            let is_whole = first.end == range.end;
            *first = piece;
            if is_whole {
                return Ok(());
            }
            while let Some((&next, _)) = self.pieces.range(start + 1..range.end).next() {
                self.pieces.remove(&next);
            }
            return Ok(());
        }
        while let Some((&start, _)) = self.pieces.range(range.clone()).next() {
            self.pieces.remove(&start);
        }
        self.pieces.insert(range.start, piece);
        Ok(())
    }

    /// Returns the first bytes of a range that were never written.
    pub fn unwritten(&self, range: &Range<u64>) -> Option<Range<u64>> {
        let before = self.pieces.range(..=range.start).next_back();
        let mut at = before.map_or(range.start, |(_, piece)| piece.end.max(range.start));
        for (&start, piece) in self.pieces.range(range.start..range.end) {
            if start > at {
                return Some(at..start);
            }
            at = at.max(piece.end);
        }
        (at < range.end).then_some(at..range.end)
    }
}
