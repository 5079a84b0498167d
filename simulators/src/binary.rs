//! Binaries: programs of a machine with their sections, as bytes.
//!
//! | bytes | contents |
//! |---|---|
//! | 8 | [`MAGIC`] |
//! | 4 | [`VERSION`] |
//! | 4 | number of sections with that of types, at most [`MAX_SECTIONS`] |
//! | 8 | name of the machine, followed by zeros |
//! | 8 | hash of the machine description |
//! | 4 | checksum of all bytes from here to the end |
//! | 4 | zeros |
//! | 8 per section | length in bytes |
//! | | the sections, in order, without gaps; the types are the last |
//!
//! Numbers are little-endian; the checksum is CRC-32.

use std::fmt;

/// The first bytes of a binary.
pub const MAGIC: &[u8; 8] = b"\x89GRADEV\n";

/// The version of the format.
pub const VERSION: u32 = 2;

/// Largest number of sections, that of types included.
pub const MAX_SECTIONS: usize = 64;

const HEADER: usize = 40;
const CHECKED: usize = 36;

/// A program of a machine: sections, the meaning of which is the machine's.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Binary {
    /// Name of the machine, 1 to 8 bytes without zeros.
    pub machine: String,
    /// Hash of the machine description for which the program was compiled.
    pub hash: u64,
    /// The type of the program, a function of its operands, as MLIR writes it; empty if it is not known.
    pub types: String,
    /// The sections without the types: code first, then constants and whatever the machine needs.
    pub sections: Vec<Vec<u8>>,
}

/// A rejected binary, with the byte at which it is wrong.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BinaryError {
    /// Byte offset.
    pub at: usize,
    /// The reason.
    pub reason: &'static str,
}

impl fmt::Display for BinaryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "byte {}: {}", self.at, self.reason)
    }
}

impl std::error::Error for BinaryError {}

impl Binary {
    /// Returns the bytes.
    ///
    /// # Panics
    /// If the machine's name does not have 1 to 8 bytes, or there are [`MAX_SECTIONS`] sections or more.
    pub fn write(&self) -> Vec<u8> {
        let name = self.machine.as_bytes();
        assert!((1..=8).contains(&name.len()) && self.sections.len() < MAX_SECTIONS, "not a binary");
        let sections = || self.sections.iter().map(Vec::as_slice).chain([self.types.as_bytes()]);
        let mut bytes = Vec::with_capacity(HEADER + sections().map(|s| s.len() + 8).sum::<usize>());
        bytes.extend_from_slice(MAGIC);
        bytes.extend_from_slice(&VERSION.to_le_bytes());
        bytes.extend_from_slice(&(sections().count() as u32).to_le_bytes());
        bytes.extend_from_slice(name);
        bytes.resize(24, 0);
        bytes.extend_from_slice(&self.hash.to_le_bytes());
        bytes.resize(HEADER, 0);
        sections().for_each(|s| bytes.extend_from_slice(&(s.len() as u64).to_le_bytes()));
        sections().for_each(|s| bytes.extend_from_slice(s));
        let checksum = crc32fast::hash(&bytes[CHECKED..]);
        bytes[32..36].copy_from_slice(&checksum.to_le_bytes());
        bytes
    }

    /// Reads a binary, which is not trusted.
    ///
    /// # Errors
    /// The first byte that is wrong: another magic, version, checksum, or lengths that do not fit.
    pub fn read(bytes: &[u8]) -> Result<Binary, BinaryError> {
        let fail = |at, reason| Err(BinaryError { at, reason });
        let word = |at: usize| bytes.get(at..at + 4).map_or(0, |b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]));
        let long = |at: usize| u64::from(word(at)) | u64::from(word(at + 4)) << 32;
        if bytes.len() < HEADER || &bytes[..8] != MAGIC {
            return fail(0, "not a program of a machine");
        }
        if word(8) != VERSION {
            return fail(8, "another version of the format");
        }
        let count = word(12) as usize;
        if !(1..=MAX_SECTIONS).contains(&count) || bytes.len() < HEADER + 8 * count {
            return fail(12, "a wrong number of sections");
        }
        let end = bytes[16..24].iter().position(|&b| b == 0).unwrap_or(8);
        let name = std::str::from_utf8(&bytes[16..16 + end]).ok().filter(|name| !name.is_empty());
        let Some(name) = name.filter(|_| bytes[16 + end..24].iter().all(|&b| b == 0)) else {
            return fail(16, "not the name of a machine");
        };
        if word(32) != crc32fast::hash(&bytes[CHECKED..]) || word(36) != 0 {
            return fail(32, "a wrong checksum");
        }
        let (mut at, mut sections) = (HEADER + 8 * count, Vec::with_capacity(count));
        for i in 0..count {
            let len = usize::try_from(long(HEADER + 8 * i)).ok();
            let Some(section) = len.and_then(|len| bytes.get(at..at.checked_add(len)?)) else {
                return fail(HEADER + 8 * i, "a section beyond the end");
            };
            at += section.len();
            sections.push(section.to_vec());
        }
        if at != bytes.len() {
            return fail(at, "bytes after the last section");
        }
        let types = String::from_utf8(sections.pop().unwrap_or_default());
        let Ok(types) = types else { return fail(HEADER + 8 * (count - 1), "types that are no text") };
        Ok(Binary { machine: name.to_owned(), hash: long(24), types, sections })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_it_writes_and_refuses_each_changed_byte() {
        let sections = vec![vec![1, 2, 3], vec![], vec![9; 100]];
        let binary = Binary { machine: "npu".into(), hash: 7, types: "(i8) -> i8".into(), sections };
        let bytes = binary.write();
        assert_eq!(Binary::read(&bytes), Ok(binary.clone()));
        for at in 0..bytes.len() {
            let mut changed = bytes.clone();
            changed[at] ^= 0x40;
            let is_header = (16..32).contains(&at);
            assert!(is_header || Binary::read(&changed).is_err(), "byte {at}");
            assert!(Binary::read(&bytes[..at]).is_err(), "length {at}");
        }
    }
}
