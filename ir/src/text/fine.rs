//! The fine half of the parser: the text of one type, attribute, location or resource section becomes a value.
//!
//! The parser of ops finds where such a text begins and ends and hands it over. Real IR repeats the same few texts
//! endlessly, so every short text is remembered together with its value; only a new one goes through the rules of
//! `grammar.pest`.
//!
//! Input may be hostile. Nesting is measured before anything recurses, long lists of elements are cut out of the text
//! before pest sees it, and values that would be huge when written out (aliases of aliases) are refused.

mod affine;
mod aliases;
mod attrs;
mod dense;
mod dialect;
mod elements;
mod grammar;
mod hex;
mod int;
mod loc;
mod quick;
mod resources;
mod source;
mod strings;
#[cfg(test)]
mod tests;
mod types;

pub(crate) use super::print_attr::{push_escaped as escape, symbol_name};
pub(crate) use aliases::{AliasTable, OF_ALIAS};
pub(crate) use hex::push_hex;
pub(crate) use int::{int_from_bytes, push_i64, push_int};
pub(crate) use resources::print_resources;
pub(crate) use strings::unescape_lenient as unescape;

use crate::attrs::AttrData;
use crate::context::Context;
use crate::entity::Entity;
use crate::intern::{Attr, Type};
use crate::module::Resources;
use grammar::{Grammar, Rule};
use pest::Parser;
use pest::iterators::Pair;
use rustc_hash::FxHashMap;
use source::Source;

/// How deep brackets may nest in one text.
pub(crate) const MAX_DEPTH: usize = 256;
/// How deep a value may nest with all aliases written out.
const MAX_VALUE_DEPTH: usize = 512;
/// How many types and attributes a value may mention with all aliases written out.
const MAX_WEIGHT: u64 = 1 << 24;
/// How much more memory the elements of all texts may take than is usual for their length: some types are very wide.
const MAX_SPARE: usize = 64 << 20;
/// Longer texts are not remembered: they hardly ever come twice.
const MAX_MEMO_LEN: usize = 256;
/// Stack that a parse of unknown depth gets.
const STACK: usize = 32 << 20;
/// Stack that the rules and the conversion take at most per bracket level, and at most without any.
const STACK_PER_LEVEL: usize = 48 << 10;
const STACK_BASE: usize = 160 << 10;

/// An error in the text of a type or attribute.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ParseError {
    /// The byte in the given text.
    pub offset: usize,
    /// The message.
    pub message: String,
}

impl std::fmt::Display for ParseError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for ParseError {}

impl ParseError {
    fn new(offset: usize, message: impl Into<String>) -> ParseError {
        ParseError { offset, message: message.into() }
    }
}

type Result<T> = std::result::Result<T, ParseError>;

/// What is remembered for a text.
#[derive(Clone, Copy, Debug)]
struct Memo {
    key: u32,
    size: Size,
}

/// How large a value is with all aliases written out.
#[derive(Clone, Copy, Default, Debug)]
struct Size {
    weight: u64,
    depth: usize,
}

impl Size {
    fn include(&mut self, inner: Size) {
        self.weight = self.weight.saturating_add(inner.weight);
        self.depth = self.depth.max(inner.depth);
    }
}

/// What a text is read as; texts are remembered apart for each.
#[derive(Clone, Copy)]
enum Kind {
    Type,
    Attr,
    Loc,
    Signature,
}

/// Reads types, attributes, locations and resources, each from its own text.
pub(crate) struct FineParser<'a> {
    ctx: &'a Context,
    aliases: &'a AliasTable<'a>,
    memo: [FxHashMap<Box<str>, Memo>; 4],
    /// Of the text being read, as far as it was read.
    size: Size,
    /// How many bytes elements may still take beyond what is usual for their text.
    spare: usize,
    /// How many parts of fused locations were copied into others.
    fused_parts: u64,
    /// The aliases whose definitions are being read.
    resolving: Vec<usize>,
}

impl<'a> FineParser<'a> {
    /// A parser of texts that may mention `aliases`.
    pub(crate) fn new(ctx: &'a Context, aliases: &'a AliasTable<'a>) -> FineParser<'a> {
        FineParser {
            ctx,
            aliases,
            memo: Default::default(),
            size: Size::default(),
            spare: MAX_SPARE,
            fused_parts: 0,
            resolving: Vec::new(),
        }
    }

    /// The type that is the whole text.
    pub(crate) fn ty(&mut self, text: &str) -> Result<Type> {
        self.remember(Kind::Type, text, |p| p.whole(Rule::whole_type, text, Self::type_pair))
    }

    /// The attribute that is the whole text.
    pub(crate) fn attr(&mut self, text: &str) -> Result<Attr> {
        self.remember(Kind::Attr, text, |p| {
            p.whole(Rule::whole_attr, text, |p, src, pair| p.attr_pair(src, pair, None))
        })
    }

    /// The attribute that is the whole text, where numbers, strings and elements are of type `ty` and do not name it.
    pub(crate) fn attr_of_type(&mut self, text: &str, ty: Type) -> Result<Attr> {
        self.measured(|p| p.whole(Rule::whole_attr, text, |p, src, pair| p.attr_pair(src, pair, Some(ty)))).0
    }

    /// The dictionary `{a = 1, b}`.
    pub(crate) fn dict(&mut self, text: &str) -> Result<Attr> {
        self.remember(Kind::Attr, text, |p| match p.quick_dict(text) {
            Some(dict) => Ok(dict),
            None => p.whole(Rule::whole_dict, text, |p, src, pair| p.attr_pair(src, pair, None)),
        })
    }

    /// The function type `(i32, f32) -> i1`.
    pub(crate) fn signature_type(&mut self, text: &str) -> Result<Type> {
        self.remember(Kind::Signature, text, |p| p.whole(Rule::whole_signature, text, Self::type_pair))
    }

    /// The inputs and results of `(i32, f32) -> (i1, i2)`.
    pub(crate) fn signature(&mut self, text: &str) -> Result<(Vec<Type>, Vec<Type>)> {
        let ty = self.signature_type(text)?;
        let (inputs, results) = self.ctx.function_parts(ty).unwrap_or_default();
        Ok((inputs.to_vec(), results.to_vec()))
    }

    /// The location that stands in `loc(...)`.
    pub(crate) fn loc(&mut self, text: &str) -> Result<Attr> {
        self.remember(Kind::Loc, text, |p| p.whole(Rule::whole_loc, text, Self::loc_pair))
    }

    /// The section `{-# ... #-}`.
    pub(crate) fn resources(&mut self, text: &str) -> Result<Resources> {
        // A blob is one token of many megabytes: reading it with the rules would copy and scan it several times.
        resources::parse(text)
    }

    /// The type at the start of a text, and the number of bytes it takes.
    pub(crate) fn ty_prefix(&mut self, text: &str) -> Result<(Type, usize)> {
        self.prefix(Kind::Type, Rule::type_prefix, text, Self::type_pair)
    }

    /// The attribute at the start of a text, and the number of bytes it takes.
    pub(crate) fn attr_prefix(&mut self, text: &str) -> Result<(Attr, usize)> {
        self.prefix(Kind::Attr, Rule::attr_prefix, text, |p, src, pair| p.attr_pair(src, pair, None))
    }

    /// Reads what is at the start of a text from ever longer pieces of it, so that the cost depends on what is read and
    /// not on what follows.
    fn prefix<K: Entity>(
        &mut self,
        kind: Kind,
        rule: Rule,
        text: &str,
        convert: fn(&mut Self, &Source<'_>, Pair<'_, Rule>) -> Result<K>,
    ) -> Result<(K, usize)> {
        let mut at_least = 64;
        loop {
            let (window, is_all) = source::window(text, at_least);
            let piece = text[..window].trim_ascii_end();
            let goes_on = !is_all && source::may_continue(&text[window..]);
            if !goes_on && let Some(key) = self.recall(kind, piece) {
                return Ok((key, piece.len()));
            }
            let (result, size) = self.measured(|p| {
                p.run(rule, piece, |p, src, mut pairs| {
                    let pair = pairs.next().ok_or_else(|| ParseError::new(0, "expected something"))?;
                    let end = src.span(&pair).1;
                    Ok((convert(p, src, pair)?, end))
                })
            });
            match result {
                Ok((key, end)) if is_all || !source::may_continue(&text[end..]) => {
                    self.memorize(kind, &text[..end], key, size);
                    return Ok((key, end));
                }
                // What goes on was in the piece, and is not a part of this.
                Ok((key, end)) if source::skip_blank(&text[end..]).len() > text.len() - window => {
                    return Ok((key, end));
                }
                Err(error) if is_all || error.offset < piece.len() => return Err(error),
                // Cut short, perhaps.
                _ => at_least = window * 2,
            }
        }
    }

    /// The value of `text` as `kind`, from memory or read by `read`.
    fn remember<K: Entity>(&mut self, kind: Kind, text: &str, read: impl FnOnce(&mut Self) -> Result<K>) -> Result<K> {
        if let Some(key) = self.recall(kind, text) {
            return Ok(key);
        }
        let (result, size) = self.measured(read);
        let key = result?;
        self.memorize(kind, text, key, size);
        Ok(key)
    }

    fn recall<K: Entity>(&mut self, kind: Kind, text: &str) -> Option<K> {
        if text.len() > MAX_MEMO_LEN {
            return None;
        }
        let memo = self.memo[kind as usize].get(text)?;
        self.size.include(memo.size);
        Some(K::new(memo.key as usize))
    }

    fn memorize<K: Entity>(&mut self, kind: Kind, text: &str, key: K, size: Size) {
        if text.len() <= MAX_MEMO_LEN {
            let memo = Memo { key: key.index() as u32, size };
            self.memo[kind as usize].insert(text.into(), memo);
        }
    }

    /// Reads something within the limits on the size of values, and tells its size.
    fn measured<T>(&mut self, read: impl FnOnce(&mut Self) -> Result<T>) -> (Result<T>, Size) {
        let outer = std::mem::take(&mut self.size);
        let result = read(self);
        let size = std::mem::replace(&mut self.size, outer);
        self.size.include(size);
        if size.weight > MAX_WEIGHT && result.is_ok() {
            return (Err(ParseError::new(0, "too large with its aliases written out")), size);
        }
        (result, size)
    }

    /// Reads a text that is one thing.
    fn whole<T>(
        &mut self,
        rule: Rule,
        text: &str,
        convert: impl FnOnce(&mut Self, &Source<'_>, Pair<'_, Rule>) -> Result<T>,
    ) -> Result<T> {
        self.run(rule, text, |p, src, mut pairs| {
            let pair = pairs.next().ok_or_else(|| ParseError::new(0, "expected something"))?;
            convert(p, src, pair)
        })
    }

    /// Applies a rule to a text and converts what it gives, with enough stack for both.
    fn run<T>(
        &mut self,
        rule: Rule,
        text: &str,
        convert: impl FnOnce(&mut Self, &Source<'_>, pest::iterators::Pairs<'_, Rule>) -> Result<T>,
    ) -> Result<T> {
        let src = Source::new(text)?;
        let depth = src.depth;
        let result = stacker::maybe_grow(STACK_BASE + depth * STACK_PER_LEVEL, STACK, || {
            let pairs = Grammar::parse(rule, &src.text).map_err(|error| grammar::explain(&src, &error))?;
            convert(self, &src, pairs)
        });
        self.size.depth += depth;
        if self.size.depth > MAX_VALUE_DEPTH {
            return Err(ParseError::new(0, format!("nesting deeper than {MAX_VALUE_DEPTH} levels with all aliases")));
        }
        result
    }

    /// Notes that the value being read mentions one more thing.
    fn count(&mut self) {
        self.size.weight = self.size.weight.saturating_add(1);
    }

    fn intern(&mut self, data: AttrData) -> Attr {
        self.ctx.attr(data)
    }
}

impl Context {
    /// Reads a type; there are no aliases.
    pub fn parse_type(&self, text: &str) -> Result<Type> {
        let aliases = AliasTable::new();
        FineParser::new(self, &aliases).ty(text)
    }

    /// Reads an attribute; there are no aliases.
    pub fn parse_attr(&self, text: &str) -> Result<Attr> {
        let aliases = AliasTable::new();
        FineParser::new(self, &aliases).attr(text)
    }
}
