//! The static check: a program that passes it means the same for all latencies and interleavings, and ends.
//!
//! Waits are for all increments of their event, so that they are monotone, and a graph without cycles has no deadlock. Records are
//! walked in an order that keeps all edges. An access is compared with the last write and the reads since of each of its bytes: it
//! conflicts unless those are complete before it. Accesses further back are complete by induction.

use super::access::{accesses, is_same_place};
use super::compute::Compute;
use super::graph::Graph;
use super::shadow::{AccessOrder, Conflict, Readers, Shadow};
use super::{ClusterMachine, ClusterProgram, Fault, FaultClass, MemoryId, Position, Record, RecordAccess, Runs, Tile};
use std::cell::Cell;

/// Largest number of ranges that a check enumerates.
pub const MAX_RANGES: u64 = 1 << 25;

/// Largest number of products of a program.
pub const MAX_PRODUCTS: u64 = 1 << 48;

/// Checks a program: fields, bounds, and that synchronization is sufficient, whatever the latencies.
///
/// # Errors
/// The first fault.
pub fn check(program: &ClusterProgram, machine: &ClusterMachine) -> Result<(), Fault> {
    checked(program, machine).map(|_| ())
}

/// Checks a program and returns its graph.
pub(super) fn checked<'a>(program: &'a ClusterProgram, machine: &ClusterMachine) -> Result<Graph<'a>, Fault> {
    program.check_map().map_err(|(_, reason)| Fault::of_program(reason))?;
    let graph = Graph::new(program, machine)?;
    let mut checker = Checker::new(program, machine, &graph);
    graph.order.iter().try_for_each(|&at| checker.record(at))?;
    checker.results()?;
    Ok(graph)
}

struct Checker<'a> {
    program: &'a ClusterProgram,
    graph: &'a Graph<'a>,
    /// Bytes of a cluster's memory for buffers.
    spm: u64,
    /// Those of the clusters, then that of DDR.
    shadows: Vec<Shadow>,
    readers: Readers,
    /// Ranges so far.
    ranges: u64,
    /// Products so far.
    products: u64,
}

/// The order of the accesses to a memory and a record.
struct Before<'a> {
    graph: &'a Graph<'a>,
    memory: MemoryId,
    at: Position,
    /// The writer of the last range that was found complete.
    known: Cell<Option<Position>>,
}

impl AccessOrder for Before<'_> {
    fn is_written(&self, writer: Position) -> bool {
        let place = match self.memory {
            MemoryId::Cluster(i) => 1 << i,
            MemoryId::Ddr => 1 << writer.cluster,
        };
        let is_complete = self.known.get() == Some(writer) || self.graph.is_complete(writer, place, self.at);
        self.known.set(is_complete.then_some(writer));
        is_complete
    }

    fn is_read(&self, reader: Position) -> bool {
        let clusters = self.graph.record(reader).counts(reader.cluster as usize).map_or(0, |(_, mask)| mask);
        self.graph.is_complete(reader, clusters, self.at)
    }
}

impl<'a> Checker<'a> {
    fn new(program: &'a ClusterProgram, machine: &ClusterMachine, graph: &'a Graph<'a>) -> Checker<'a> {
        let mut shadows: Vec<Shadow> = (0..=program.records.len()).map(|_| Shadow::default()).collect();
        let constants = program.constants.len() as u64;
        let ddr = &mut shadows[program.records.len()];
        ddr.host(&(0..constants));
        for extent in &program.operands {
            let start = u64::from(extent.offset);
            ddr.host(&(start..start + u64::from(extent.bytes)));
        }
        let spm = machine.buffer_bytes().into();
        Checker { program, graph, spm, shadows, readers: Readers::default(), ranges: 0, products: 0 }
    }

    fn record(&mut self, at: Position) -> Result<(), Fault> {
        let record = self.graph.record(at);
        let mut list = Vec::new();
        accesses(record, at.cluster as usize, &mut |access| list.push(access));
        list.iter().try_for_each(|access| self.bounds(access, at))?;
        overlaps(record, &list, at)?;
        self.products = self.products.saturating_add(record.products());
        if self.products > MAX_PRODUCTS {
            return Err(Fault::new(FaultClass::Limit, at, "the program has more than 2^48 products"));
        }
        self.readers.begin();
        list.iter().try_for_each(|access| self.order(access, at))
    }

    /// Checks that an access is in its memory and visits no byte twice.
    fn bounds(&mut self, access: &RecordAccess, at: Position) -> Result<(), Fault> {
        let RecordAccess { memory, writes, runs } = access;
        let size = match memory {
            MemoryId::Cluster(_) => self.spm,
            MemoryId::Ddr => self.program.ddr_bytes.into(),
        };
        let fault = |class, reason, range| Err(Fault::new(class, at, reason).place(*memory, range));
        if runs.end() > size {
            return fault(FaultClass::Bounds, "an access ends beyond the memory", size.max(runs.first)..runs.end());
        }
        if !runs.is_nested() {
            return fault(FaultClass::Overlap, "rows, columns or channels overlap", runs.first..runs.end());
        }
        if *writes && *memory == MemoryId::Ddr && runs.first < self.program.constants.len() as u64 {
            return fault(FaultClass::Constants, "a write to the constants", runs.first..runs.end());
        }
        self.ranges = self.ranges.saturating_add(runs.count());
        if self.ranges > MAX_RANGES {
            return Err(Fault::new(FaultClass::Limit, at, "the program accesses more than 2^25 ranges"));
        }
        Ok(())
    }

    /// Compares an access with earlier ones.
    fn order(&mut self, access: &RecordAccess, at: Position) -> Result<(), Fault> {
        let RecordAccess { memory, writes, runs } = *access;
        if memory == MemoryId::Ddr && !writes && runs.end() <= self.program.constants.len() as u64 {
            return Ok(());
        }
        let shadow = match memory {
            MemoryId::Cluster(i) => &mut self.shadows[i],
            MemoryId::Ddr => &mut self.shadows[self.program.records.len()],
        };
        let order = Before { graph: self.graph, memory, at, known: Cell::new(None) };
        let readers = &mut self.readers;
        let mut ranges = runs.ranges();
        let result = if writes {
            ranges.try_for_each(|range| shadow.write(&range, at, &order, readers))
        } else {
            ranges.try_for_each(|range| shadow.read(&range, at, &order, readers))
        };
        result.map_err(|Conflict { class, other, range }| {
            let reason = match class {
                FaultClass::Poison => "a read of bytes that were never written",
                _ => "no wait orders the accesses",
            };
            Fault { other, ..Fault::new(class, at, reason).place(memory, range) }
        })
    }

    /// Checks that each byte of a result is written.
    fn results(&self) -> Result<(), Fault> {
        let ddr = &self.shadows[self.program.records.len()];
        for extent in &self.program.results {
            let start = u64::from(extent.offset);
            if let Some(range) = ddr.unwritten(&(start..start + u64::from(extent.bytes))) {
                let fault = Fault { class: FaultClass::Poison, ..Fault::of_program("a result is never written") };
                return Err(fault.place(MemoryId::Ddr, range));
            }
        }
        Ok(())
    }
}

/// Checks that a record writes no byte that it reads, unless element by element in place.
fn overlaps(record: &Record, list: &[RecordAccess], at: Position) -> Result<(), Fault> {
    for write in list.iter().filter(|access| access.writes) {
        for read in list.iter().filter(|access| !access.writes && access.memory == write.memory) {
            let Some(range) = read.runs.common(&write.runs) else { continue };
            if !is_in_place(record, &read.runs) {
                let fault = Fault::new(FaultClass::Overlap, at, "a record writes a byte that it reads");
                return Err(fault.place(write.memory, range));
            }
        }
    }
    Ok(())
}

/// Whether a read is that of a tile which the output replaces element by element: an input of a map or softmax, or an operand of a stage.
fn is_in_place(record: &Record, read: &Runs) -> bool {
    let Some(output) = record.output() else { return false };
    let replaces = |tile: &Tile| Runs::of_tile(tile) == *read && is_same_place(tile, output);
    let input = record.input().filter(|_| record.compute().is_some_and(Compute::is_elementwise));
    let stages = record.stages().into_iter().flatten().flatten();
    input.is_some_and(replaces) || stages.filter_map(|stage| stage.other()).any(replaces)
}

/// Returns the last byte of each cluster's memory that a program accesses, plus 1.
pub(super) fn peaks(program: &ClusterProgram) -> Vec<u64> {
    let mut peaks = vec![0; program.records.len()];
    for (here, records) in program.records.iter().enumerate() {
        for record in records {
            accesses(record, here, &mut |access| {
                if let MemoryId::Cluster(i) = access.memory {
                    peaks[i] = access.runs.end().max(peaks[i]);
                }
            });
        }
    }
    peaks
}
