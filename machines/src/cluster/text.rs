//! Fields in custom forms: `{event = 0, count = 1}`, in the order of their declaration.

use super::fields::{HasFields, one_of, out_of_range, read, to_attr};
use gradus_ir::float::{FloatKind, print as print_float};
use gradus_ir::{Attr, AttrData, Diagnostic, OpParser, OpPrinter, ParseResult, Type};
use gradus_simulators::fields::{GroupKind, Visitor};
use std::convert::Infallible;
use std::fmt::Write;

/// Columns of a line of fields, beyond which it is broken.
const WIDTH: usize = 120;

/// Prints a dictionary as the fields of `value`. Long ones are broken into lines, on which each group is alone. A dictionary that does not
/// have these fields, which the verifier rejects, is printed as an attribute.
pub(super) fn print_fields(p: &mut OpPrinter<'_, '_>, attr: Attr, mut value: impl HasFields) {
    if read(p.ctx(), attr, &mut value).is_err() {
        return p.attr(attr);
    }
    let mut printer = FieldPrinter::default();
    let Ok(()) = value.fields(&mut printer);
    let fields = printer.fields;
    if fields.iter().map(|field| field.len() + 2).sum::<usize>() <= WIDTH {
        let fields: Vec<String> = fields.iter().map(|field| one_line(field)).collect();
        return p.text(&format!("{{{}}}", fields.join(", ")));
    }
    p.text("{");
    // The columns of the present line; `None` if the next field begins one.
    let mut columns: Option<usize> = None;
    for (i, field) in fields.iter().enumerate() {
        let is_group = field.ends_with(['}', ']']) && !field.ends_with("[]");
        p.text(if i == 0 { "" } else { "," });
        let before = columns.filter(|columns| !is_group && columns + field.len() + 2 <= WIDTH);
        match before {
            Some(_) => p.text(" "),
            None => line(p, 2),
        }
        if field.len() <= WIDTH {
            p.text(&one_line(field));
        } else {
            print_lines(p, field);
        }
        columns = (!is_group).then(|| before.unwrap_or(0) + field.len() + 2);
    }
    line(p, 0);
    p.text("}");
}

/// Starts a new line, indented by a number of columns more than the op.
fn line(p: &mut OpPrinter<'_, '_>, indent: usize) {
    p.newline();
    p.text(&" ".repeat(indent));
}

/// Prints the lines of a field, each on one of its own.
fn print_lines(p: &mut OpPrinter<'_, '_>, field: &str) {
    for (i, part) in field.split('\n').enumerate() {
        if i > 0 {
            line(p, 4);
        }
        p.text(part);
    }
}

/// Joins the lines of a field.
fn one_line(field: &str) -> String {
    field.replace("[\n", "[").replace('\n', " ")
}

/// Parses fields; returns their dictionary.
pub(super) fn parse_fields(p: &mut OpParser<'_, '_>, mut value: impl HasFields) -> ParseResult<Attr> {
    p.expect("{")?;
    let mut parser = FieldParser { p, comma: Comma::First, is_named: false };
    value.fields(&mut parser)?;
    parser.end(GroupKind::Record)?;
    Ok(to_attr(p.ctx(), value))
}

/// Prints each field of a group.
#[derive(Default)]
struct FieldPrinter {
    /// The text of each field. Before each group of a list is a line break.
    fields: Vec<String>,
    /// Number of open groups inside.
    depth: usize,
}

impl FieldPrinter {
    /// Begins a field; returns the text to which its value is appended.
    fn field(&mut self, name: &str) -> &mut String {
        if self.depth == 0 || self.fields.is_empty() {
            self.fields.push(String::new());
        }
        let last = self.fields.len() - 1;
        let text = &mut self.fields[last];
        if !text.is_empty() && !text.ends_with(['{', '[']) {
            text.push_str(", ");
        }
        if !name.is_empty() {
            text.push_str(name);
            text.push_str(" = ");
        }
        text
    }
}

impl Visitor for FieldPrinter {
    type Error = Infallible;

    fn number(&mut self, name: &'static str, _: usize, _: [i64; 2], value: i64) -> Result<i64, Infallible> {
        let _ = write!(self.field(name), "{value}");
        Ok(value)
    }

    fn word(&mut self, name: &'static str, words: &[&'static str], index: usize) -> Result<usize, Infallible> {
        self.field(name).push_str(words[index]);
        Ok(index)
    }

    fn present(&mut self, _: &'static str, present: bool) -> Result<bool, Infallible> {
        Ok(present)
    }

    fn float(&mut self, name: &'static str, value: f32) -> Result<f32, Infallible> {
        print_float(FloatKind::F32, value.to_bits().into(), self.field(name));
        Ok(value)
    }

    fn begin(&mut self, name: &'static str, group: GroupKind) -> Result<(), Infallible> {
        let is_in_list = self.depth == 1 && name.is_empty();
        let text = self.field(name);
        if is_in_list {
            text.truncate(text.trim_end().len());
            text.push('\n');
        }
        text.push_str(brackets(group).0);
        self.depth += 1;
        Ok(())
    }

    fn end(&mut self, group: GroupKind) -> Result<(), Infallible> {
        self.depth -= 1;
        if let Some(text) = self.fields.last_mut() {
            text.push_str(brackets(group).1);
        }
        Ok(())
    }
}

fn brackets(group: GroupKind) -> (&'static str, &'static str) {
    match group {
        GroupKind::Record => ("{", "}"),
        GroupKind::List => ("[", "]"),
    }
}

/// The comma before the next field.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Comma {
    /// None: the field is the first of its group.
    First,
    /// It comes next.
    Next,
    /// It has been read.
    Read,
}

/// Parses fields in the order of their declaration.
struct FieldParser<'r, 'p, 'a> {
    p: &'r mut OpParser<'p, 'a>,
    comma: Comma,
    /// Whether the name of the next field has been read.
    is_named: bool,
}

impl FieldParser<'_, '_, '_> {
    /// Parses the comma and the name before a value. Returns the offset of the value.
    fn field(&mut self, name: &str) -> ParseResult<usize> {
        if self.comma == Comma::Next {
            self.p.expect(",")?;
        }
        self.comma = Comma::Next;
        if !name.is_empty() {
            if !std::mem::take(&mut self.is_named) {
                self.p.expect_word(name)?;
            }
            self.p.expect("=")?;
        }
        Ok(self.p.offset())
    }

    /// Parses a comma if it comes next. Returns whether another field can follow.
    fn eat_comma(&mut self) -> bool {
        if self.comma == Comma::Next && self.p.eat(",") {
            self.comma = Comma::Read;
        }
        self.comma != Comma::Next
    }
}

impl Visitor for FieldParser<'_, '_, '_> {
    type Error = Box<Diagnostic>;

    fn number(&mut self, name: &'static str, _: usize, range: [i64; 2], _: i64) -> ParseResult<i64> {
        let at = self.field(name)?;
        match self.p.integer()? {
            value if (range[0]..=range[1]).contains(&value) => Ok(value),
            value => self.p.error_in_op(at, out_of_range(value, range).trim_end_matches(',')),
        }
    }

    fn word(&mut self, name: &'static str, words: &[&'static str], _: usize) -> ParseResult<usize> {
        let at = self.field(name)?;
        let found = self.p.word();
        match words.iter().position(|&word| word == found) {
            Some(index) => Ok(index),
            None => self.p.error(at, format!("expected {}", one_of(words))),
        }
    }

    fn present(&mut self, name: &'static str, _: bool) -> ParseResult<bool> {
        self.is_named = self.eat_comma() && self.p.eat_word(name);
        Ok(self.is_named)
    }

    fn float(&mut self, name: &'static str, _: f32) -> ParseResult<f32> {
        let at = self.field(name)?;
        let attr = self.p.number(Type::F32)?;
        match *self.p.ctx().attr_data(attr) {
            AttrData::Float { ty: Type::F32, bits } => Ok(f32::from_bits(bits[0] as u32)),
            _ => self.p.error(at, "expected a float"),
        }
    }

    fn more(&mut self, _: bool) -> ParseResult<bool> {
        Ok(match self.comma {
            Comma::First => self.p.peek() != b']',
            _ => self.eat_comma(),
        })
    }

    fn begin(&mut self, name: &'static str, group: GroupKind) -> ParseResult<()> {
        self.field(name)?;
        self.p.expect(brackets(group).0)?;
        self.comma = Comma::First;
        Ok(())
    }

    fn end(&mut self, group: GroupKind) -> ParseResult<()> {
        if self.comma == Comma::Read {
            return self.p.error_here("expected a field");
        }
        self.comma = Comma::Next;
        self.p.expect(brackets(group).1)
    }
}
