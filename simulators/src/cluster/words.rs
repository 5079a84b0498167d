//! Records as bytes, and programs as binaries.
//!
//! The static data block of a cluster is its records, one after another:
//!
//! | bytes | contents |
//! |---|---|
//! | 4 | length of the record in bytes, this number included |
//! | 4 | id of the function: its index in [`FUNCTIONS`](super::FUNCTIONS), plus 1 |
//! | | the fields in the order of their declaration: the argument of the function |
//!
//! Each field takes 4 bytes, little-endian: numbers, floats, words, flags, and the presence of an optional value or of another element of
//! a list. So the argument is a struct of C, and a device walks the block by lengths.
//!
//! A loader relocates a block once: an id stands for the address of its function, and bytes of DDR are relative to the first byte of the
//! program's DDR. These are the field `transfer.from.offset` of `fetch`, byte 0 of the argument, and the field `transfer.to.offset` of
//! `store`, byte 12. All other places are bytes of a cluster's own memory, which begins at 0.

use super::{ClusterMachine, ClusterProgram, Extent, MAX_CLUSTERS, Record};
use crate::fields::bytes::{FieldReader, FieldWriter};
use crate::{Binary, BinaryError};

/// Number of bytes of a field.
const WORD: usize = 4;

/// Bytes of length and function id.
const HEADER: usize = 2 * WORD;

/// Returns the static data block of a cluster.
pub fn encode(records: &[Record]) -> Vec<u8> {
    let mut writer = FieldWriter { bytes: Vec::new(), word: WORD };
    for record in records {
        let start = writer.bytes.len();
        writer.bytes.extend_from_slice(&[0; 4]);
        writer.bytes.extend_from_slice(&(record.function() as u32 + 1).to_le_bytes());
        let Ok(()) = { *record }.visit_fields(&mut writer);
        let length = (writer.bytes.len() - start) as u32;
        writer.bytes[start..start + 4].copy_from_slice(&length.to_le_bytes());
    }
    writer.bytes
}

/// Reads a static data block, which is not trusted. Fields have a value of their type, which the simulator checks further.
///
/// # Errors
/// A length that is not the record's, an unknown function, a value that its field does not have, and an end within a record.
pub fn decode(bytes: &[u8]) -> Result<Vec<Record>, BinaryError> {
    let (mut at, mut records) = (0, Vec::new());
    while at < bytes.len() {
        let (record, length) = decode_record(bytes, at)?;
        records.push(record);
        at += length;
    }
    Ok(records)
}

/// Reads the record at byte `at`; returns it with its length.
fn decode_record(bytes: &[u8], at: usize) -> Result<(Record, usize), BinaryError> {
    let fail = |at, reason| Err(BinaryError { at, reason });
    let mut header = FieldReader { bytes, at, word: WORD };
    let (length, id) = (header.take(4)? as usize, header.take(4)? as usize);
    let Some(end) = at.checked_add(length).filter(|&end| length >= HEADER && end <= bytes.len()) else {
        return fail(at, "a record that ends beyond its block");
    };
    let Some(mut record) = id.checked_sub(1).and_then(Record::blank) else {
        return fail(at + 4, "an unknown function");
    };
    let mut reader = FieldReader { bytes: &bytes[..end], at: at + HEADER, word: WORD };
    record.visit_fields(&mut reader)?;
    if reader.at != end {
        return fail(reader.at, "the length of a record is not that of its fields");
    }
    Ok((record, length))
}

/// The name of the machine in binaries.
pub const NAME: &str = "cluster";

impl ClusterProgram {
    /// Returns the binary for a machine. Its sections are the static data block of each cluster, the constants, and the map:
    /// bytes of DDR, number of operands, then first byte and length of each operand and result.
    pub fn to_binary(&self, machine: &ClusterMachine) -> Binary {
        let numbers = [self.ddr_bytes, self.operands.len() as u32];
        let extents = self.operands.iter().chain(&self.results).flat_map(|extent| [extent.offset, extent.bytes]);
        let map = numbers.into_iter().chain(extents).flat_map(u32::to_le_bytes).collect();
        let blocks = self.records.iter().map(|records| encode(records));
        let sections = blocks.chain([self.constants.clone(), map]).collect();
        Binary { machine: NAME.to_owned(), hash: machine.hash(), types: String::new(), sections }
    }

    /// Reads the binary of a program for a machine, which is not trusted. Byte positions of errors are those in the section.
    ///
    /// # Errors
    /// A binary for another machine, sections that are not those of a program, and operands or results that overlap or
    /// end beyond DDR.
    pub fn from_binary(binary: &Binary, machine: &ClusterMachine) -> Result<ClusterProgram, BinaryError> {
        let fail = |reason| Err(BinaryError { at: 0, reason });
        if binary.machine != NAME || binary.hash != machine.hash() {
            return fail("a program of another machine");
        }
        let [blocks @ .., constants, map] = &binary.sections[..] else {
            return fail("not the sections of a program of clusters");
        };
        if blocks.is_empty() || blocks.len() > MAX_CLUSTERS.min(machine.clusters as usize) {
            return fail("a program for another number of clusters");
        }
        let records = blocks.iter().map(|block| decode(block)).collect::<Result<_, _>>()?;
        let (ddr_bytes, operands, results) = decode_map(map)?;
        let program = ClusterProgram { records, constants: constants.clone(), ddr_bytes, operands, results };
        program.check_map().map_err(|(index, reason)| BinaryError { at: 8 + 8 * index, reason })?;
        Ok(program)
    }

    /// Checks that constants, operands and results are in DDR, and disjoint.
    ///
    /// # Errors
    /// The first extent that is not, as index into operands and results.
    pub(super) fn check_map(&self) -> Result<(), (usize, &'static str)> {
        let constants = self.constants.len() as u64;
        let mut ends = vec![(0, constants, 0)];
        for (i, extent) in self.operands.iter().chain(&self.results).enumerate() {
            let start = u64::from(extent.offset);
            ends.push((start, start + u64::from(extent.bytes), i));
        }
        if let Some(&(_, _, i)) = ends.iter().find(|end| end.1 > self.ddr_bytes.into()) {
            return Err((i, "an operand, a result or the constants end beyond DDR"));
        }
        ends.retain(|(start, end, _)| start < end);
        ends.sort_unstable();
        match ends.windows(2).find(|pair| pair[1].0 < pair[0].1) {
            Some(pair) => Err((pair[1].2, "operands, results and constants overlap")),
            None => Ok(()),
        }
    }
}

/// Reads bytes of DDR, operands and results.
fn decode_map(map: &[u8]) -> Result<(u32, Vec<Extent>, Vec<Extent>), BinaryError> {
    let mut reader = FieldReader { bytes: map, at: 0, word: WORD };
    let (ddr_bytes, operands) = (reader.take(4)? as u32, reader.take(4)? as usize);
    let (extents, rest) = map[8..].as_chunks::<8>();
    if !rest.is_empty() || extents.len() < operands {
        return Err(BinaryError { at: 4, reason: "a wrong map of operands and results" });
    }
    let number = |b: &[u8]| u32::from_le_bytes([b[0], b[1], b[2], b[3]]);
    let extents = extents.iter().map(|b| Extent { offset: number(b), bytes: number(&b[4..]) });
    let mut operands_and_results: Vec<Extent> = extents.collect();
    let results = operands_and_results.split_off(operands);
    Ok((ddr_bytes, operands_and_results, results))
}
