//! Parser state and errors with source positions.

use super::cursor::Cursor;
use super::names::Names;
use super::options::{ParseOptions, Reader};
use super::type_attr_parser::{AliasTable, ParseError, TypeAttrParser};
use crate::context::Context;
use crate::intern::{Attr, OpName, Type};
use crate::module::{Block, Module, Region, Value};
use crate::text::diag::Diagnostic;
use crate::text::loc::Loc;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::sync::Arc;

/// Number of op names whose recent texts are kept.
pub(super) const RECENT: usize = 64;

/// Indices in `RecentTexts::dicts` of the dictionaries of inherent and of discardable attributes.
pub(super) const PROPS: usize = 0;
pub(super) const ATTRS: usize = 1;

/// The texts that recent ops of a name had. Most ops repeat them, and a comparison is cheaper than to match brackets and
/// to hash.
#[derive(Clone, Copy)]
pub(super) struct RecentTexts<'a> {
    /// Two texts of each dictionary.
    pub(super) dicts: [[(&'a str, Attr); 2]; 2],
    /// The signature, and its index in `Parser::signatures`.
    pub(super) signature: (&'a str, usize),
}

impl Default for RecentTexts<'_> {
    fn default() -> Self {
        RecentTexts { dicts: [[("", Attr::EMPTY_DICT); 2]; 2], signature: ("", 0) }
    }
}

impl<'a> RecentTexts<'a> {
    /// Returns the recent dictionary whose text starts `rest`. Since brackets balance, no other dictionary can start
    /// with this text. Moves the other one to the front if neither does, to be replaced.
    #[inline]
    pub(super) fn dict(&mut self, which: usize, rest: &[u8]) -> Option<(&'a str, Attr)> {
        let list = &mut self.dicts[which];
        for _ in 0..2 {
            let text = list[0].0;
            if !text.is_empty() && rest.starts_with(text.as_bytes()) {
                return Some(list[0]);
            }
            list.swap(0, 1);
        }
        list.swap(0, 1);
        None
    }
}

/// A parse error, boxed to keep results small.
pub(crate) type Error = Box<Diagnostic>;
pub(crate) type PResult<T> = Result<T, Error>;

/// The state of parsing one file.
pub(crate) struct Parser<'a> {
    pub(crate) ctx: &'a Arc<Context>,
    pub(crate) m: Module,
    pub(crate) cur: Cursor<'a>,
    pub(crate) type_attrs: TypeAttrParser<'a>,
    pub(crate) names: Names<'a>,
    pub(super) aliases: &'a AliasTable<'a>,
    pub(super) source: u32,
    pub(super) options: ParseOptions,
    pub(super) diags: Vec<Diagnostic>,
    /// Labels of the region being parsed.
    pub(super) labels: FxHashMap<&'a str, Label>,
    pub(super) depth: u32,
    /// Maximum nesting depth of regions, and number of custom forms, so far.
    pub(super) deepest: u32,
    pub(super) custom_forms: usize,
    pub(super) division: Division,
    pub(super) op_names: FxHashMap<&'a str, OpName>,
    /// The signatures that were read, and their places by text.
    pub(super) signatures: Vec<Types>,
    pub(super) signature_index: FxHashMap<&'a str, usize>,
    pub(super) normal: FxHashMap<(OpName, Attr, Attr), (Attr, Attr)>,
    /// A direct-mapped cache of the texts that recent ops had, by op name.
    pub(super) recent: Vec<RecentTexts<'a>>,
    /// Dialects whose prefix may be omitted, innermost last.
    pub(super) default_dialects: Vec<&'static str>,
    /// Whether an error has said how ops of unregistered dialects are read.
    pub(super) has_advised: bool,
}

/// The state of dividing the text among threads, which happens at most once: at the first function with enough text
/// after it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Division {
    /// Parsing stays on one thread.
    Never,
    /// The text may still be divided.
    Open,
    Done,
    /// The division failed, and one thread parses the file again.
    Failed,
}

/// The operand and result types of a signature.
pub(super) type Types = (SmallVec<[Type; 4]>, SmallVec<[Type; 2]>);

/// A block label: the offset of its first mention and whether the block is defined.
#[derive(Clone, Copy)]
pub(super) struct Label {
    pub(super) block: Block,
    pub(super) offset: usize,
    pub(super) defined: bool,
}

/// A value reference in the text: `%name#number`.
#[derive(Clone, Copy, Debug)]
pub struct ValueRef<'a> {
    pub(crate) name: &'a str,
    pub(crate) number: u32,
    pub(crate) offset: usize,
}

impl<'a> ValueRef<'a> {
    /// Returns the key of the reference: `("name", number)`.
    pub fn key(self) -> (&'a str, u32) {
        (self.name, self.number)
    }
}

/// The parsed parts of an op, before the op is created.
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
            cur: Cursor::of_reader(text, options.reader),
            type_attrs: TypeAttrParser::of_reader(ctx, aliases, options.reader),
            names: Names::new(text.len()),
            aliases,
            source,
            options,
            diags: Vec::new(),
            labels: FxHashMap::default(),
            depth: 0,
            deepest: 0,
            custom_forms: 0,
            division: if options.threads > 1 && options.reader == Reader::Fast {
                Division::Open
            } else {
                Division::Never
            },
            op_names: FxHashMap::default(),
            signatures: Vec::new(),
            signature_index: FxHashMap::default(),
            normal: FxHashMap::default(),
            recent: vec![RecentTexts::default(); RECENT],
            default_dialects: vec!["builtin"],
            has_advised: false,
        }
    }

    /// Makes an error at a byte offset. A token missing at the end of a line is reported there, not at the start of the
    /// next.
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

    /// Reports an error at the next token.
    pub(crate) fn error_here<T>(&mut self, message: impl Into<String>) -> PResult<T> {
        self.cur.skip_space();
        Err(self.error(self.cur.pos, message))
    }

    /// Makes the error for a missing keyword, at the next token even if that is on a later line.
    pub(crate) fn missing_word(&mut self, word: &str) -> Error {
        self.cur.skip_space();
        Box::new(Diagnostic::error(self.place(self.cur.pos), format!("expected '{word}'")))
    }

    /// Whether everything is read by the rules of the grammar.
    pub(super) fn by_grammar(&self) -> bool {
        self.options.reader == Reader::Grammar
    }

    /// Parses what begins at the next token by a rule of the grammar, which says where it ends.
    pub(super) fn prefix<T>(
        &mut self,
        parse: impl FnOnce(&mut TypeAttrParser<'a>, &'a str) -> Result<(T, usize), ParseError>,
    ) -> PResult<T> {
        self.cur.skip_space();
        let at = self.cur.pos;
        let (value, len) = parse(&mut self.type_attrs, self.cur.rest()).map_err(|e| self.type_attr_error(at, e))?;
        self.cur.pos += len;
        Ok(value)
    }

    pub(crate) fn place(&self, offset: usize) -> Loc {
        Loc::source(self.source, offset)
    }

    /// Makes the error of a type or attribute whose text starts at `base`.
    pub(crate) fn type_attr_error(&self, base: usize, e: ParseError) -> Error {
        self.error(base + e.offset, e.message)
    }

    /// Consumes a required token.
    #[inline(always)]
    pub(crate) fn expect(&mut self, token: &str) -> PResult<()> {
        if self.cur.eat(token) { Ok(()) } else { self.missing_token(token) }
    }

    #[cold]
    fn missing_token(&mut self, token: &str) -> PResult<()> {
        self.error_here(format!("expected '{token}'"))
    }
}
