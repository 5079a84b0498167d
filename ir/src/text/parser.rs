//! The state of parsing, and errors at places in the text.

use super::cursor::Cursor;
use super::fine::{AliasTable, FineParser, ParseError};
use super::names::Names;
use super::options::ParseOptions;
use crate::context::Context;
use crate::diag::Diagnostic;
use crate::intern::{Attr, OpName, Type};
use crate::loc::Loc;
use crate::module::{Block, Module, Region, Value};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::sync::Arc;

/// What goes wrong while parsing. Boxed, since it is rare and results travel far.
pub(crate) type Error = Box<Diagnostic>;
pub(crate) type PResult<T> = Result<T, Error>;

/// The state of parsing one file.
pub(crate) struct Parser<'a> {
    pub(crate) ctx: &'a Arc<Context>,
    pub(crate) m: Module,
    pub(crate) cur: Cursor<'a>,
    pub(crate) fine: FineParser<'a>,
    pub(crate) names: Names<'a>,
    pub(super) aliases: &'a AliasTable<'a>,
    pub(super) source: u32,
    pub(super) options: ParseOptions,
    pub(super) diags: Vec<Diagnostic>,
    /// Labels of the region being parsed.
    pub(super) labels: FxHashMap<&'a str, Label>,
    pub(super) depth: u32,
    pub(super) division: Division,
    pub(super) op_names: FxHashMap<&'a str, OpName>,
    pub(super) signatures: FxHashMap<&'a str, Types>,
    pub(super) normal: FxHashMap<(OpName, Attr, Attr), (Attr, Attr)>,
    /// Dialects whose prefix may be left out, innermost last.
    pub(super) default_dialects: Vec<&'static str>,
}

/// Whether the text was divided among threads. That happens once, at the first function with enough text after it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Division {
    /// It is not to be.
    Never,
    /// Not yet.
    Open,
    Done,
    /// It was, and that was a mistake.
    Failed,
}

/// The operand and result types that a signature names.
pub(super) type Types = (SmallVec<[Type; 4]>, SmallVec<[Type; 2]>);

/// A block that was named: where first, and whether it has been defined.
#[derive(Clone, Copy)]
pub(super) struct Label {
    pub(super) block: Block,
    pub(super) offset: usize,
    pub(super) defined: bool,
}

/// An operand as written: `%name#number`.
#[derive(Clone, Copy, Debug)]
pub struct ValueRef<'a> {
    pub(crate) name: &'a str,
    pub(crate) number: u32,
    pub(crate) offset: usize,
}

impl<'a> ValueRef<'a> {
    /// What tells names apart: `("name", number)`.
    pub fn key(self) -> (&'a str, u32) {
        (self.name, self.number)
    }
}

/// Everything that was read of an op, before it is made.
pub(crate) struct ParsedOp {
    pub(crate) name: OpName,
    pub(crate) offset: usize,
    pub(crate) operands: SmallVec<[Value; 4]>,
    pub(crate) result_types: SmallVec<[Type; 2]>,
    pub(crate) props: Attr,
    pub(crate) attrs: Attr,
    pub(crate) successors: SmallVec<[Block; 2]>,
    pub(crate) regions: SmallVec<[Region; 2]>,
    pub(crate) loc: Option<Loc>,
}

impl ParsedOp {
    pub(crate) fn new(name: OpName, offset: usize) -> Self {
        ParsedOp {
            name,
            offset,
            operands: SmallVec::new(),
            result_types: SmallVec::new(),
            props: Attr::EMPTY_DICT,
            attrs: Attr::EMPTY_DICT,
            successors: SmallVec::new(),
            regions: SmallVec::new(),
            loc: None,
        }
    }
}

impl<'a> Parser<'a> {
    pub(super) fn new(
        ctx: &'a Arc<Context>,
        aliases: &'a AliasTable<'a>,
        source: u32,
        text: &'a str,
        options: ParseOptions,
    ) -> Self {
        Parser {
            ctx,
            m: Module::new(ctx.clone()),
            cur: Cursor::new(text),
            fine: FineParser::new(ctx, aliases),
            names: Names::default(),
            aliases,
            source,
            options,
            diags: Vec::new(),
            labels: FxHashMap::default(),
            depth: 0,
            division: if options.threads > 1 { Division::Open } else { Division::Never },
            op_names: FxHashMap::default(),
            signatures: FxHashMap::default(),
            normal: FxHashMap::default(),
            default_dialects: vec!["builtin"],
        }
    }

    /// An error at a byte of the text. A token that was expected but does not come before the end of a line is missed
    /// there, not where the next line starts.
    pub(crate) fn error(&self, offset: usize, message: impl Into<String>) -> Error {
        let message = message.into();
        let text = self.cur.text();
        let offset = offset.min(text.len());
        let before = text.get(..offset).unwrap_or("").trim_end().len();
        let moved = before > 0
            && (message.starts_with("expected '") || message == "expected SSA operand")
            && text[before..offset].contains('\n');
        Box::new(Diagnostic::error(self.place(if moved { before } else { offset }), message))
    }

    /// An error at the next token.
    pub(crate) fn error_here<T>(&mut self, message: impl Into<String>) -> PResult<T> {
        self.cur.skip_space();
        Err(self.error(self.cur.pos, message))
    }

    /// A keyword is missed where something else is, even if that is on the next line.
    pub(crate) fn missing_word(&mut self, word: &str) -> Error {
        self.cur.skip_space();
        Box::new(Diagnostic::error(self.place(self.cur.pos), format!("expected '{word}'")))
    }

    pub(crate) fn place(&self, offset: usize) -> Loc {
        Loc::source(self.source, offset)
    }

    /// The error of a type or attribute whose text starts at `base`.
    pub(crate) fn fine_error(&self, base: usize, e: ParseError) -> Error {
        self.error(base + e.offset, e.message)
    }

    /// Takes a token that must come.
    pub(crate) fn expect(&mut self, token: &str) -> PResult<()> {
        if self.cur.eat(token) {
            return Ok(());
        }
        self.error_here(format!("expected '{token}'"))
    }
}
