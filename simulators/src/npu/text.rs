//! Instructions as text: one per line, the mnemonic and the fields by name.
//!
//! ```text
//! load ddr = 0, sram = 64, run = 128, counts = [1, 1, 4], ddr_strides = [0, 0, 512], sram_strides = [0, 0, 128]
//! signal unit = load, token = 0
//! post acc = 0, ..., clamp = [-128, 127], residual = none, table = none, table_stride = 0, output = {base = 0, ...}
//! end
//! ```
//!
//! Fields are in the order of their declaration. `#` begins a comment.

use super::MNEMONICS;
use super::NpuInst;
use crate::fields::text::{FieldTextParser, Printer, TextError, lines};
use std::fmt::{self, Write};

impl fmt::Display for NpuInst {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut printer = Printer::default();
        let Ok(()) = { *self }.visit_fields(&mut printer);
        let mnemonic = MNEMONICS[self.opcode()];
        if printer.text.is_empty() { f.write_str(mnemonic) } else { write!(f, "{mnemonic} {}", printer.text) }
    }
}

/// Returns the text of a program.
pub fn disassemble(program: &[NpuInst]) -> String {
    program.iter().fold(String::new(), |mut text, inst| {
        let _ = writeln!(text, "{inst}");
        text
    })
}

/// Reads the text of a program.
///
/// # Errors
/// The first line that is not an instruction.
pub fn assemble(text: &str) -> Result<Vec<NpuInst>, TextError> {
    lines(text).map(|(i, line)| line.parse().map_err(|reason| TextError { line: i, reason })).collect()
}

impl std::str::FromStr for NpuInst {
    type Err = String;

    /// Reads one instruction.
    fn from_str(text: &str) -> Result<NpuInst, String> {
        let mut parser = FieldTextParser::new(text);
        let mnemonic = parser.name().to_owned();
        let opcode = MNEMONICS.iter().position(|&name| name == mnemonic);
        let mut inst = opcode.and_then(NpuInst::blank).ok_or_else(|| format!("'{mnemonic}' is no instruction"))?;
        inst.visit_fields(&mut parser)?;
        if parser.rest.is_empty() { Ok(inst) } else { Err(format!("'{}' after the last field", parser.rest)) }
    }
}
