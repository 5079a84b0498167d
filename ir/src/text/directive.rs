//! Hand-written parts of custom forms, for what MLIR writes by hand too: `custom<Name>($a, type($b))` in a format.

use super::parser::{PResult, ParsedOp, Parser, ValueRef};
use super::printer::Printer;
use crate::context::Context;
use crate::intern::{Attr, Str, Type};
use crate::loc::Loc;
use crate::module::Op;
use smallvec::SmallVec;
use std::io;

/// A part of a custom form with its own reader and writer.
pub struct Directive {
    /// The name in `custom<Name>`.
    pub name: &'static str,
    /// Reads it. The parameters are those in the format.
    pub parse: fn(&mut OpParser<'_, '_>, &[Param]) -> ParseResult<()>,
    /// Writes it. The blank before it is written already.
    pub print: fn(&mut OpPrinter<'_, '_>, &[Param]) -> io::Result<()>,
}

/// What a directive is about. Indices count the groups of one kind in the declaration.
#[derive(Clone, Copy, Debug)]
pub enum Param {
    /// `$operand`
    Operand(usize),
    /// `$attribute`; `attr-dict` leaves it out
    Attr(usize),
    /// `$region`
    Region(usize),
    /// `$successor`
    Successor(usize),
    /// `type($values)`
    Types(Values),
}

/// Values whose types are spelled.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Values {
    /// Those of an operand group.
    Operand(usize),
    /// Those of a result group.
    Result(usize),
    /// All operands.
    Operands,
    /// All results.
    Results,
}

/// The error is a diagnostic with its place.
pub type ParseResult<T> = PResult<T>;

/// A declared argument of a region: `%name: type`.
pub type RegionArg<'a> = (ValueRef<'a>, Type, Loc);

/// What has been read of the op so far.
pub(super) struct State<'a> {
    pub(super) operands: Vec<SmallVec<[ValueRef<'a>; 2]>>,
    pub(super) operand_types: Vec<Option<SmallVec<[Type; 2]>>>,
    pub(super) result_types: Vec<Option<SmallVec<[Type; 2]>>>,
    /// All operands or results typed at once, by `type(operands)` and the like.
    pub(super) all_operand_types: Option<Vec<Type>>,
    pub(super) all_result_types: Option<Vec<Type>>,
    pub(super) props: Vec<(Str, Attr)>,
    pub(super) attrs: Attr,
}

impl State<'_> {
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

/// What directives read an op through.
pub struct OpParser<'p, 'a> {
    pub(super) p: &'p mut Parser<'a>,
    pub(super) s: &'p mut State<'a>,
    pub(super) op: &'p mut ParsedOp,
}

/// What directives write an op through.
pub struct OpPrinter<'p, 'm> {
    pub(super) p: &'p mut Printer<'m>,
    /// The op.
    pub op: Op,
}

/// A parameter list read from a format.
pub(super) type Params = SmallVec<[Param; 4]>;
