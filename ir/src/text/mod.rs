//! Parsing and printing of IR. The language is MLIR's; `grammar.pest` is its reference.
//!
//! The skeleton of ops (names, operands, brackets), which is most of real IR, is parsed by a [cursor](cursor) without a
//! grammar. Each distinct type, attribute, signature and location is parsed once by the pest rules ([`type_attr_parser`]) and
//! memoized by its text.
//!
//! [`Reader::Grammar`] is a second reader: its cursor finds tokens by the rules of the grammar, types and attributes are
//! parsed where they stand, by rules that also say where they end, and top-level ops in generic form are checked by the
//! rules for ops. It shares the format engine and the making of ops with the fast reader, but no table of recent texts.
//!
//! Large files are parsed by several threads: `parse_threads` guesses where functions begin, and parses again on one thread if a
//! guess was wrong. `print_threads` concatenates parts in order. A location takes eight bytes: an offset into a source text,
//! from which line and column are computed on demand, or a location attribute.

mod attr_dict;
mod cursor;
mod define_aliases;
pub mod diag;
pub(crate) mod directive;
mod format;
mod format_check;
mod format_elems;
mod format_parse;
mod format_print;
mod function;
pub(crate) mod lexer;
pub(crate) mod loc;
mod names;
mod number;
mod op_parser;
mod op_printer;
mod options;
mod param_format;
mod parse;
mod parse_op;
mod parse_threads;
mod parser;
mod print;
mod print_alias;
mod print_attr;
mod print_declared;
mod print_threads;
mod print_users;
mod printer;
mod readers;
mod roundtrip;
mod show_op;
pub(crate) mod source;
mod spacing;
mod type_attr_parser;
mod unregistered;
mod visit_aliases;

pub use directive::{Directive, OpParser, OpPrinter, Param, ParseResult, RegionArg, ValueGroup};
pub(crate) use format_check::mistakes as format_mistakes;
pub use options::{ParseOptions, PrintOptions, Reader};
pub(crate) use param_format::mistake as params_format_mistake;
pub use parse::{parse_module, parse_single_op, parse_source};
pub use parser::ValueRef;
pub use readers::disagreement;
pub use roundtrip::{first_difference, read_again};
pub use type_attr_parser::ParseError;

use crate::context::Context;
use crate::intern::{Attr, Type};
use crate::module::{Module, Op, Value};

impl Context {
    /// Returns the text of a type.
    pub fn display_type(&self, ty: Type) -> String {
        let mut out = String::new();
        print_attr::AttrPrinter::new(self, None).ty(ty, &mut out);
        out
    }

    /// Returns the text of an attribute, with its type.
    pub fn display_attr(&self, attr: Attr) -> String {
        let mut out = String::new();
        print_attr::AttrPrinter::new(self, None).attr(attr, &mut out);
        out
    }
}

/// The names of the values in the text of an op, for messages and reports.
pub struct ValueNames(number::Numbering);

impl ValueNames {
    /// Names all values under an op.
    pub fn new(m: &Module, op: Op) -> ValueNames {
        ValueNames(number::Numbering::new(m, op, PrintOptions::default()))
    }

    /// Returns the name of a value, `%0` or `%arg0`.
    pub fn of(&self, m: &Module, value: Value) -> String {
        let mut out = String::new();
        self.0.value(m, value, &mut out);
        out
    }
}
