//! Assembler and disassembler.
//!
//! A line is a mnemonic and its operands: `nnmacg fram0, wram1, block0, rewind`. `#` begins a comment.

use super::instruction::{Form, NnaInst, OperandKind};
use super::machine::NnaMachine;
use crate::fields::text::{TextError, lines};
use std::fmt;

impl fmt::Display for NnaInst {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.form.name())?;
        for (i, (field, value)) in self.operands().enumerate() {
            f.write_str(if i == 0 { " " } else { ", " })?;
            f.write_str(&operand_text(field.kind, value))?;
        }
        Ok(())
    }
}

/// Returns the text of an operand.
fn operand_text(kind: OperandKind, value: i32) -> String {
    let word = usize::try_from(value).ok().and_then(|value| kind.words().get(value));
    word.map_or_else(|| value.to_string(), |word| word.0.to_owned())
}

/// Returns the value of an operand's text.
fn operand_value(kind: OperandKind, text: &str) -> Option<i32> {
    match kind {
        OperandKind::Word => text.parse().ok(),
        _ => kind.words().iter().find(|word| word.0 == text).map(|word| word.1 as i32),
    }
}

/// Returns the text of a program, an instruction per line.
pub fn disassemble(program: &[NnaInst]) -> String {
    program.iter().map(|inst| format!("{inst}\n")).collect()
}

/// Returns the program of a text.
///
/// # Errors
/// The first wrong line, with the reason.
pub fn assemble(text: &str, machine: &NnaMachine) -> Result<Vec<NnaInst>, TextError> {
    lines(text).map(|(i, line)| parse(line, machine).map_err(|reason| TextError { line: i, reason })).collect()
}

fn parse(line: &str, machine: &NnaMachine) -> Result<NnaInst, String> {
    let (name, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let form = Form::of(name).ok_or_else(|| format!("'{name}' is no instruction"))?;
    let texts: Vec<&str> = rest.split(',').map(str::trim).filter(|text| !text.is_empty()).collect();
    let fields = form.info().fields;
    if texts.len() != fields.len() {
        return Err(format!("'{name}' has {} operands, but {} are given", fields.len(), texts.len()));
    }
    let mut inst = NnaInst::new(form, &[]);
    for ((arg, field), text) in inst.args.iter_mut().zip(fields).zip(texts) {
        *arg =
            operand_value(field.kind, text).ok_or_else(|| format!("'{text}' is not '{}' of '{name}'", field.name))?;
    }
    inst.check(machine)?;
    Ok(inst)
}
