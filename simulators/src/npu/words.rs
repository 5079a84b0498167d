//! Instructions as bytes: the opcode, and the fields in the order of their declaration, little-endian. Words, flags and the
//! presence of an optional value take a byte.

use super::{NpuInst, NpuMachine};
use crate::fields::bytes::{FieldReader, FieldWriter};
use crate::{Binary, BinaryError};

/// Number of bytes of a word.
const WORD: usize = 1;

/// Returns the bytes of a program.
pub fn encode(program: &[NpuInst]) -> Vec<u8> {
    let mut writer = FieldWriter { bytes: Vec::new(), word: WORD };
    for inst in program {
        writer.bytes.push(inst.opcode() as u8);
        let Ok(()) = { *inst }.visit_fields(&mut writer);
    }
    writer.bytes
}

/// Reads a program, which is not trusted. Fields have a value of their type, which the simulator checks further.
///
/// # Errors
/// An unknown opcode or word, and an end within an instruction.
pub fn decode(bytes: &[u8]) -> Result<Vec<NpuInst>, BinaryError> {
    let mut reader = FieldReader { bytes, at: 0, word: WORD };
    let mut program = Vec::new();
    while reader.at < bytes.len() {
        let opcode = usize::from(bytes[reader.at]);
        let mut inst = NpuInst::blank(opcode).ok_or(BinaryError { at: reader.at, reason: "an unknown opcode" })?;
        reader.at += 1;
        inst.visit_fields(&mut reader)?;
        program.push(inst);
    }
    Ok(program)
}

/// A program with its constants and the places of its operands and results in DDR: the sections of a binary.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ProgramImage {
    /// The instructions.
    pub code: Vec<NpuInst>,
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

impl ProgramImage {
    /// Returns the binary for a machine. Its sections are code, constants, and the numbers of the map: bytes of DDR, number of
    /// operands, and first bytes.
    pub fn to_binary(&self, machine: &NpuMachine) -> Binary {
        let numbers = [self.ddr_bytes, self.operands.len() as u32];
        let offsets = self.operands.iter().chain(&self.results).copied();
        let map = numbers.into_iter().chain(offsets).flat_map(u32::to_le_bytes).collect();
        let sections = vec![encode(&self.code), self.constants.clone(), map];
        Binary { machine: NAME.to_owned(), hash: machine.hash(), types: String::new(), sections }
    }

    /// Reads the binary of a program for a machine.
    ///
    /// # Errors
    /// A binary for another machine, and sections that are not those of a program.
    pub fn from_binary(binary: &Binary, machine: &NpuMachine) -> Result<ProgramImage, BinaryError> {
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
        Ok(ProgramImage {
            code: decode(code)?,
            constants: constants.clone(),
            ddr_bytes: *ddr_bytes,
            operands: operands.to_vec(),
            results: results.to_vec(),
        })
    }
}
