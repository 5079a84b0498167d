//! Instructions as bytes: the opcode, and the fields in the order of their declaration, little-endian. Words, flags and the
//! presence of an optional value take a byte.

use super::fields::{Group, Visitor};
use super::{Inst, Machine};
use crate::{Binary, BinaryError};

/// Returns the bytes of a program.
pub fn encode(program: &[Inst]) -> Vec<u8> {
    let mut writer = Writer(Vec::new());
    for inst in program {
        writer.0.push(inst.opcode() as u8);
        let Ok(()) = { *inst }.visit_fields(&mut writer);
    }
    writer.0
}

/// Reads a program, which is not trusted. Fields have a value of their type, which the simulator checks further.
///
/// # Errors
/// An unknown opcode or word, and an end within an instruction.
pub fn decode(bytes: &[u8]) -> Result<Vec<Inst>, BinaryError> {
    let mut reader = Reader { bytes, at: 0 };
    let mut program = Vec::new();
    while reader.at < bytes.len() {
        let opcode = usize::from(bytes[reader.at]);
        let mut inst = Inst::blank(opcode).ok_or(BinaryError { at: reader.at, reason: "an unknown opcode" })?;
        reader.at += 1;
        inst.visit_fields(&mut reader)?;
        program.push(inst);
    }
    Ok(program)
}

struct Writer(Vec<u8>);

impl Visitor for Writer {
    type Error = std::convert::Infallible;

    fn number(&mut self, _: &'static str, bytes: usize, _: [i64; 2], value: i64) -> Result<i64, Self::Error> {
        self.0.extend_from_slice(&value.to_le_bytes()[..bytes]);
        Ok(value)
    }

    fn word(&mut self, _: &'static str, _: &[&'static str], index: usize) -> Result<usize, Self::Error> {
        self.0.push(index as u8);
        Ok(index)
    }

    fn present(&mut self, _: &'static str, present: bool) -> Result<bool, Self::Error> {
        self.0.push(present.into());
        Ok(present)
    }

    fn begin(&mut self, _: &'static str, _: Group) -> Result<(), Self::Error> {
        Ok(())
    }

    fn end(&mut self, _: Group) -> Result<(), Self::Error> {
        Ok(())
    }
}

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Reader<'_> {
    /// Reads a number of `n` bytes, at most 8.
    fn take(&mut self, n: usize) -> Result<u64, BinaryError> {
        let bytes = self.bytes.get(self.at..self.at + n);
        let bytes = bytes.ok_or(BinaryError { at: self.at, reason: "an end within an instruction" })?;
        self.at += n;
        Ok(bytes.iter().rev().fold(0, |value, &byte| value << 8 | u64::from(byte)))
    }

    fn choice(&mut self, count: usize) -> Result<usize, BinaryError> {
        let at = self.at;
        let index = self.take(1)? as usize;
        if index < count { Ok(index) } else { Err(BinaryError { at, reason: "a value that its field does not have" }) }
    }
}

impl Visitor for Reader<'_> {
    type Error = BinaryError;

    fn number(&mut self, _: &'static str, bytes: usize, range: [i64; 2], _: i64) -> Result<i64, BinaryError> {
        let value = self.take(bytes)? as i64;
        let unused = 64 - 8 * bytes as u32;
        Ok(if range[0] < 0 { value << unused >> unused } else { value })
    }

    fn word(&mut self, _: &'static str, words: &[&'static str], _: usize) -> Result<usize, BinaryError> {
        self.choice(words.len())
    }

    fn present(&mut self, _: &'static str, _: bool) -> Result<bool, BinaryError> {
        Ok(self.choice(2)? == 1)
    }

    fn begin(&mut self, _: &'static str, _: Group) -> Result<(), BinaryError> {
        Ok(())
    }

    fn end(&mut self, _: Group) -> Result<(), BinaryError> {
        Ok(())
    }
}

/// A program with its constants and the places of its operands and results in DDR: the sections of a binary.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Image {
    /// The instructions.
    pub code: Vec<Inst>,
    /// Constants, from byte 0 of DDR.
    pub constants: Vec<u8>,
    /// Bytes of DDR.
    pub ddr_bytes: u32,
    /// First byte of each operand in DDR.
    pub operands: Vec<u32>,
    /// First byte of each result in DDR.
    pub results: Vec<u32>,
}

/// The name of the machine in binaries.
pub const NAME: &str = "npu";

impl Image {
    /// Returns the binary for a machine. Its sections are code, constants, and the numbers of the map: bytes of DDR, number of
    /// operands, and first bytes.
    pub fn to_binary(&self, machine: &Machine) -> Binary {
        let numbers = [self.ddr_bytes, self.operands.len() as u32];
        let offsets = self.operands.iter().chain(&self.results).copied();
        let map = numbers.into_iter().chain(offsets).flat_map(u32::to_le_bytes).collect();
        let sections = vec![encode(&self.code), self.constants.clone(), map];
        Binary { machine: NAME.to_owned(), hash: machine.hash(), sections }
    }

    /// Reads the binary of a program for a machine.
    ///
    /// # Errors
    /// A binary for another machine, and sections that are not those of a program.
    pub fn from_binary(binary: &Binary, machine: &Machine) -> Result<Image, BinaryError> {
        let fail = |reason| Err(BinaryError { at: 0, reason });
        if binary.machine != NAME || binary.hash != machine.hash() {
            return fail("a program of another machine");
        }
        let [code, constants, map] = &binary.sections[..] else { return fail("not the sections of an npu program") };
        let (numbers, rest) = map.as_chunks::<4>();
        let numbers: Vec<u32> = numbers.iter().map(|&b| u32::from_le_bytes(b)).collect();
        let [ddr_bytes, count, offsets @ ..] = &numbers[..] else { return fail("a short map of operands") };
        if !rest.is_empty() || offsets.len() < *count as usize {
            return fail("a wrong map of operands");
        }
        if constants.len() as u64 > u64::from(*ddr_bytes) || offsets.iter().any(|at| at > ddr_bytes) {
            return fail("a place beyond DDR");
        }
        let (operands, results) = offsets.split_at(*count as usize);
        Ok(Image {
            code: decode(code)?,
            constants: constants.clone(),
            ddr_bytes: *ddr_bytes,
            operands: operands.to_vec(),
            results: results.to_vec(),
        })
    }
}
