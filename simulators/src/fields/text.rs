//! Fields as text: `name = value`, groups in braces and brackets.

use super::{GroupKind, Visitor};
use std::convert::Infallible;
use std::fmt::{self, Write};

/// A line that is not an instruction or record.
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

/// Returns the lines with their numbers, from 1, without comments, which `#` begins, and without empty lines.
pub fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let lines = text.lines().enumerate().map(|(i, line)| (i + 1, line.split('#').next().unwrap_or("").trim()));
    lines.filter(|(_, line)| !line.is_empty())
}

/// Prints fields as `name = value`, separated by commas.
#[derive(Default)]
pub struct Printer {
    /// The text.
    pub text: String,
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

    /// Finite numbers have the shortest text that is read as the same number, others are shown as bits.
    fn float(&mut self, name: &'static str, value: f32) -> Result<f32, Infallible> {
        self.field(name);
        let _ = if value.is_finite() {
            write!(self.text, "{value:?}")
        } else {
            write!(self.text, "0x{:08x}", value.to_bits())
        };
        Ok(value)
    }

    fn more(&mut self, more: bool) -> Result<bool, Infallible> {
        Ok(more)
    }

    fn begin(&mut self, name: &'static str, group: GroupKind) -> Result<(), Infallible> {
        self.field(name);
        self.text.push(brackets(group).0);
        Ok(())
    }

    fn end(&mut self, group: GroupKind) -> Result<(), Infallible> {
        self.text.push(brackets(group).1);
        Ok(())
    }
}

fn brackets(group: GroupKind) -> (char, char) {
    match group {
        GroupKind::Record => ('{', '}'),
        GroupKind::List => ('[', ']'),
    }
}

/// Reads fields from text.
pub struct FieldTextParser<'a> {
    /// The rest of the text, without leading spaces.
    pub rest: &'a str,
    /// Whether no comma comes before the next field.
    first: bool,
}

impl<'a> FieldTextParser<'a> {
    /// Begins at the start of a text.
    pub fn new(text: &'a str) -> FieldTextParser<'a> {
        FieldTextParser { rest: text.trim(), first: true }
    }

    fn take(&mut self, len: usize) -> &'a str {
        let (taken, rest) = self.rest.split_at(len);
        self.rest = rest.trim_start();
        taken
    }

    /// Takes a name or an integer.
    pub fn name(&mut self) -> &'a str {
        self.token(&['_', '-'])
    }

    /// Takes the longest token of letters, digits and the characters `others`.
    fn token(&mut self, others: &[char]) -> &'a str {
        let is_part = |c: char| c.is_ascii_alphanumeric() || others.contains(&c);
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

impl Visitor for FieldTextParser<'_> {
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
        let mut ahead = FieldTextParser { rest: self.rest, first: self.first };
        ahead.field(name)?;
        let absent = ahead.name() == "none";
        if absent {
            *self = ahead;
        }
        Ok(!absent)
    }

    fn float(&mut self, name: &'static str, _: f32) -> Result<f32, String> {
        self.field(name)?;
        let found = self.token(&['.', '-', '+']);
        let bits = found.strip_prefix("0x").filter(|digits| digits.len() == 8);
        let value = match bits {
            Some(bits) => u32::from_str_radix(bits, 16).ok().map(f32::from_bits),
            None => found.parse().ok().filter(|value: &f32| value.is_finite()),
        };
        value.ok_or_else(|| format!("'{found}' is no finite number and no bits of one"))
    }

    fn more(&mut self, _: bool) -> Result<bool, String> {
        Ok(!self.rest.starts_with(brackets(GroupKind::List).1))
    }

    fn begin(&mut self, name: &'static str, group: GroupKind) -> Result<(), String> {
        self.field(name)?;
        self.first = true;
        self.expect(brackets(group).0)
    }

    fn end(&mut self, group: GroupKind) -> Result<(), String> {
        self.first = false;
        self.expect(brackets(group).1)
    }
}
