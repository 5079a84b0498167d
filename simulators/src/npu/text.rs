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

use super::Inst;
use super::fields::{Group, MNEMONICS, Visitor};
use std::convert::Infallible;
use std::fmt::{self, Write};

/// A line that is not an instruction.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TextError {
    /// Line, from 1.
    pub line: usize,
    /// The reason.
    pub reason: String,
}

impl fmt::Display for TextError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.reason)
    }
}

impl std::error::Error for TextError {}

impl fmt::Display for Inst {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut printer = Printer::default();
        let Ok(()) = { *self }.visit_fields(&mut printer);
        let mnemonic = MNEMONICS[self.opcode()];
        if printer.text.is_empty() { f.write_str(mnemonic) } else { write!(f, "{mnemonic} {}", printer.text) }
    }
}

/// Returns the text of a program.
pub fn disassemble(program: &[Inst]) -> String {
    program.iter().fold(String::new(), |mut text, inst| {
        let _ = writeln!(text, "{inst}");
        text
    })
}

/// Reads the text of a program.
///
/// # Errors
/// The first line that is not an instruction.
pub fn assemble(text: &str) -> Result<Vec<Inst>, TextError> {
    let lines = text.lines().enumerate().map(|(i, line)| (i + 1, line.split('#').next().unwrap_or("").trim()));
    let insts = lines.filter(|(_, line)| !line.is_empty());
    insts.map(|(i, line)| line.parse().map_err(|reason| TextError { line: i, reason })).collect()
}

impl std::str::FromStr for Inst {
    type Err = String;

    /// Reads one instruction.
    fn from_str(text: &str) -> Result<Inst, String> {
        let mut parser = Parser { rest: text.trim(), first: true };
        let mnemonic = parser.name().to_owned();
        let opcode = MNEMONICS.iter().position(|&name| name == mnemonic);
        let mut inst = opcode.and_then(Inst::blank).ok_or_else(|| format!("'{mnemonic}' is no instruction"))?;
        inst.visit_fields(&mut parser)?;
        if parser.rest.is_empty() { Ok(inst) } else { Err(format!("'{}' after the last field", parser.rest)) }
    }
}

#[derive(Default)]
struct Printer {
    text: String,
}

impl Printer {
    fn field(&mut self, name: &str) {
        if !self.text.is_empty() && !self.text.ends_with(['{', '[']) {
            self.text.push_str(", ");
        }
        if !name.is_empty() {
            self.text.push_str(name);
            self.text.push_str(" = ");
        }
    }
}

impl Visitor for Printer {
    type Error = Infallible;

    fn number(&mut self, name: &'static str, _: usize, _: [i64; 2], value: i64) -> Result<i64, Infallible> {
        self.field(name);
        let _ = write!(self.text, "{value}");
        Ok(value)
    }

    fn word(&mut self, name: &'static str, words: &[&'static str], index: usize) -> Result<usize, Infallible> {
        self.field(name);
        self.text.push_str(words[index]);
        Ok(index)
    }

    fn present(&mut self, name: &'static str, present: bool) -> Result<bool, Infallible> {
        if !present {
            self.field(name);
            self.text.push_str("none");
        }
        Ok(present)
    }

    fn begin(&mut self, name: &'static str, group: Group) -> Result<(), Infallible> {
        self.field(name);
        self.text.push(brackets(group).0);
        Ok(())
    }

    fn end(&mut self, group: Group) -> Result<(), Infallible> {
        self.text.push(brackets(group).1);
        Ok(())
    }
}

fn brackets(group: Group) -> (char, char) {
    match group {
        Group::Record => ('{', '}'),
        Group::List => ('[', ']'),
    }
}

struct Parser<'a> {
    rest: &'a str,
    /// Whether no comma comes before the next field.
    first: bool,
}

impl<'a> Parser<'a> {
    fn take(&mut self, len: usize) -> &'a str {
        let (taken, rest) = self.rest.split_at(len);
        self.rest = rest.trim_start();
        taken
    }

    fn name(&mut self) -> &'a str {
        let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        self.take(self.rest.find(|c| !is_part(c)).unwrap_or(self.rest.len()))
    }

    fn expect(&mut self, symbol: char) -> Result<(), String> {
        if !self.rest.starts_with(symbol) {
            return Err(format!("expected '{symbol}' at '{}'", self.rest));
        }
        self.take(symbol.len_utf8());
        Ok(())
    }

    /// Reads the comma and the name before a value.
    fn field(&mut self, name: &str) -> Result<(), String> {
        if !std::mem::take(&mut self.first) {
            self.expect(',')?;
        }
        if !name.is_empty() {
            let found = self.name();
            if found != name {
                return Err(format!("expected field '{name}' instead of '{found}'"));
            }
            self.expect('=')?;
        }
        Ok(())
    }
}

impl Visitor for Parser<'_> {
    type Error = String;

    fn number(&mut self, name: &'static str, _: usize, range: [i64; 2], _: i64) -> Result<i64, String> {
        self.field(name)?;
        let found = self.name();
        let value = found.parse().ok().filter(|value| (range[0]..=range[1]).contains(value));
        value.ok_or_else(|| format!("'{found}' is no number between {} and {}", range[0], range[1]))
    }

    fn word(&mut self, name: &'static str, words: &[&'static str], _: usize) -> Result<usize, String> {
        self.field(name)?;
        let found = self.name();
        words.iter().position(|&word| word == found).ok_or_else(|| format!("'{found}' is none of {}", words.join(", ")))
    }

    fn present(&mut self, name: &'static str, _: bool) -> Result<bool, String> {
        let mut ahead = Parser { rest: self.rest, first: self.first };
        ahead.field(name)?;
        let absent = ahead.name() == "none";
        if absent {
            *self = ahead;
        }
        Ok(!absent)
    }

    fn begin(&mut self, name: &'static str, group: Group) -> Result<(), String> {
        self.field(name)?;
        self.first = true;
        self.expect(brackets(group).0)
    }

    fn end(&mut self, group: Group) -> Result<(), String> {
        self.first = false;
        self.expect(brackets(group).1)
    }
}
