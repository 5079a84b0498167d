//! Assembler and disassembler.
//!
//! A line is a mnemonic and its operands: `nnmacg fram0, wram1, block0, rewind`. Sets of events are joined by `|`, the empty
//! set is `none`, and `#` begins a comment.

use super::instruction::{Form, Inst, Kind};
use super::machine::Machine;
use std::fmt;

/// Words of [`Kind::Events`], in the order of its bits.
const EVENTS: [&str; 6] = ["fram0", "fram1", "wram0", "wram1", "engine", "config"];

impl fmt::Display for Inst {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.form.info().name)?;
        for (i, (field, value)) in self.operands().enumerate() {
            f.write_str(if i == 0 { " " } else { ", " })?;
            f.write_str(&operand_text(field.kind, value))?;
        }
        Ok(())
    }
}

/// Returns the text of an operand.
pub fn operand_text(kind: Kind, value: i32) -> String {
    if let Some(letter) = kind.letter() {
        return format!("{letter}{value}");
    }
    let word = usize::try_from(value).ok().and_then(|value| kind.words().get(value));
    match kind {
        Kind::Events if value == 0 => "none".to_owned(),
        Kind::Events => {
            let set: Vec<&str> = (0..EVENTS.len()).filter(|i| value >> i & 1 != 0).map(|i| EVENTS[i]).collect();
            set.join("|")
        }
        _ => word.map_or_else(|| value.to_string(), |&word| word.to_owned()),
    }
}

/// Returns the value of an operand's text.
pub fn operand_value(kind: Kind, text: &str) -> Option<i32> {
    if let Some(letter) = kind.letter() {
        return text.strip_prefix(letter)?.parse().ok();
    }
    match kind {
        Kind::Word => text.parse().ok(),
        Kind::Events if text == "none" => Some(0),
        Kind::Events => text.split('|').try_fold(0, |set, word| {
            let bit = EVENTS.iter().position(|event| *event == word.trim())?;
            Some(set | 1 << bit)
        }),
        _ => kind.words().iter().position(|word| *word == text).map(|i| i as i32),
    }
}

/// Returns the text of a program, an instruction per line.
pub fn disassemble(program: &[Inst]) -> String {
    program.iter().map(|inst| format!("{inst}\n")).collect()
}

/// Returns the program of a text.
///
/// # Errors
/// The first wrong line, with the reason.
pub fn assemble(text: &str, machine: &Machine) -> Result<Vec<Inst>, String> {
    let lines = text.lines().enumerate().map(|(i, line)| (i + 1, line.split('#').next().unwrap_or("").trim()));
    lines
        .filter(|(_, line)| !line.is_empty())
        .map(|(i, line)| parse(line, machine).map_err(|why| format!("line {i}: {why}")))
        .collect()
}

fn parse(line: &str, machine: &Machine) -> Result<Inst, String> {
    let (name, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let form = Form::of(name).ok_or_else(|| format!("'{name}' is no instruction"))?;
    let texts: Vec<&str> = rest.split(',').map(str::trim).filter(|text| !text.is_empty()).collect();
    let fields = form.info().fields;
    if texts.len() != fields.len() {
        return Err(format!("'{name}' has {} operands, but {} are given", fields.len(), texts.len()));
    }
    let mut inst = Inst::new(form, &[]);
    for ((arg, field), text) in inst.args.iter_mut().zip(fields).zip(texts) {
        *arg =
            operand_value(field.kind, text).ok_or_else(|| format!("'{text}' is not '{}' of '{name}'", field.name))?;
    }
    inst.check(machine)?;
    Ok(inst)
}
