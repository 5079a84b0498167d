//! Custom directives of assembly formats: hand-written parts of a custom form, `custom<Name>($a, type($b))`.

use super::parser::{PResult, ParsedOp, Parser, ValueRef};
use super::printer::Printer;
use crate::context::Context;
use crate::intern::{Attr, Str, Type};
use crate::module::Op;
use crate::text::loc::Loc;
use smallvec::SmallVec;
use std::io;

/// A custom directive: a part of a custom form with its own parser and printer.
pub struct Directive {
    /// The name in `custom<Name>`.
    pub name: &'static str,
    /// Parses the directive. The parameters are those in the format.
    pub parse: fn(&mut OpParser<'_, '_>, &[Param]) -> ParseResult<()>,
    /// Prints the directive. The preceding blank has been printed.
    pub print: fn(&mut OpPrinter<'_, '_>, &[Param]) -> io::Result<()>,
}

/// A parameter of a directive. Indices are 0-based within the groups of one kind in the declaration.
#[derive(Clone, Copy, Debug)]
pub enum Param {
    /// `$operand`
    Operand(usize),
    /// `$attribute`; `attr-dict` omits it
    Attr(usize),
    /// `$region`
    Region(usize),
    /// `$successor`
    Successor(usize),
    /// `type($values)`
    Types(ValueGroup),
}

/// The values of a `type(...)` parameter.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ValueGroup {
    /// The values of an operand group.
    Operand(usize),
    /// The values of a result group.
    Result(usize),
    /// All operands.
    Operands,
    /// All results.
    Results,
}

/// The result of parsing; the error is a diagnostic with its source position.
pub type ParseResult<T> = PResult<T>;

/// A declared entry block argument: `%name: type`.
pub type RegionArg<'a> = (ValueRef<'a>, Type, Loc);

/// The parts of an op that have been parsed.
pub(super) struct ParsedParts<'a> {
    pub(super) operands: Vec<SmallVec<[ValueRef<'a>; 2]>>,
    pub(super) operand_types: Vec<Option<SmallVec<[Type; 2]>>>,
    pub(super) result_types: Vec<Option<SmallVec<[Type; 2]>>>,
    /// The types of all operands or all results, from `type(operands)` and `type(results)`.
    pub(super) all_operand_types: Option<Vec<Type>>,
    pub(super) all_result_types: Option<Vec<Type>>,
    pub(super) props: Vec<(Str, Attr)>,
    pub(super) attrs: Attr,
}

impl ParsedParts<'_> {
    /// Adds the discardable attributes of a dictionary.
    pub(super) fn add_attrs(&mut self, ctx: &Context, dict: Attr) {
        if self.attrs == Attr::EMPTY_DICT {
            self.attrs = dict;
            return;
        }
        for &(name, value) in ctx.dict_entries(dict) {
            self.attrs = ctx.dict_with(self.attrs, name, Some(value));
        }
    }
}

/// The interface through which directives parse an op.
pub struct OpParser<'p, 'a> {
    pub(super) p: &'p mut Parser<'a>,
    pub(super) s: &'p mut ParsedParts<'a>,
    pub(super) op: &'p mut ParsedOp,
}

/// The interface through which directives print an op.
pub struct OpPrinter<'p, 'm> {
    pub(super) p: &'p mut Printer<'m>,
    /// The op being printed.
    pub op: Op,
}

/// The parameter list of a directive in a format.
pub(super) type Params = SmallVec<[Param; 4]>;
