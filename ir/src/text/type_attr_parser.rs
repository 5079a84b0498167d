//! The parser of types, attributes, locations and resources.
//!
//! The op parser finds where such a text begins and ends. Real IR repeats the same few texts, so each short text is
//! memoized with its value, and only a new one is parsed by the rules of `grammar.pest`.
//!
//! Input may be hostile. Nesting is measured before any recursion, long element lists are cut out of the text before it
//! is parsed by pest, and values that are huge with their aliases expanded (aliases of aliases) are rejected.

mod affine;
mod aliases;
mod attrs;
mod declared;
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

pub(crate) use super::print_attr::symbol_name;
pub(crate) use aliases::{AliasTable, OF_ALIAS};
pub(crate) use declared::{begins, eat};
pub(crate) use grammar::{Rule, bracketed_len, check_op, token_len};
pub(crate) use hex::push_hex;
pub(crate) use int::{int_from_bytes, push_i64, push_int};
pub(crate) use resources::print_resources;
pub(crate) use strings::unescape_lenient as unescape;

use super::options::Reader;
use crate::attrs::AttrData;
use crate::context::Context;
use crate::entity::Entity;
use crate::intern::{Attr, Type};
use crate::module::Resources;
use grammar::Grammar;
use pest::Parser;
use pest::iterators::Pair;
use rustc_hash::FxHashMap;
use source::Source;

/// Maximum nesting depth of brackets in one text.
pub(crate) const MAX_DEPTH: usize = 256;
/// The start of the error for deeper nesting.
pub(crate) const TOO_DEEP: &str = "nesting deeper than";
/// Maximum nesting depth of a value with all aliases expanded.
const MAX_VALUE_DEPTH: usize = 512;
/// Maximum number of types and attributes in a value with all aliases expanded.
const MAX_WEIGHT: u64 = 1 << 24;
/// Maximum memory in bytes of the elements of all texts, beyond `BYTES_PER_BYTE` per byte of text: some types are very
/// wide.
const MAX_SPARE: usize = 64 << 20;
/// Length in bytes above which texts are not memoized, since they rarely repeat.
const MAX_MEMO_LEN: usize = 256;
/// Stack in bytes allocated for a parse that may not fit the current one.
const STACK: usize = 32 << 20;
/// Maximum stack in bytes that pest and the conversion use per bracket level, and without any.
const STACK_PER_LEVEL: usize = 48 << 10;
const STACK_BASE: usize = 160 << 10;

/// Returns the error for brackets that are nested deeper than `MAX_DEPTH`.
pub(super) fn too_deep() -> String {
    format!("{TOO_DEEP} {MAX_DEPTH} levels")
}

/// Returns the maximum stack in bytes for a text with brackets nested `depth` deep.
fn stack_of(depth: usize) -> usize {
    STACK_BASE + depth * STACK_PER_LEVEL
}

/// An error in the text of a type or attribute.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ParseError {
    /// Byte offset in the given text.
    pub offset: usize,
    /// The message.
    pub message: String,
}

crate::message_error!(ParseError.message);

impl ParseError {
    fn new(offset: usize, message: impl Into<String>) -> ParseError {
        ParseError { offset, message: message.into() }
    }
}

type Result<T> = std::result::Result<T, ParseError>;

/// A memoized value.
#[derive(Clone, Copy, Debug)]
struct Memo {
    key: u32,
    size: Size,
}

/// The size of a value with all aliases expanded.
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

/// The syntactic category of a text, each with a memo table of its own.
#[derive(Clone, Copy)]
enum SyntaxCategory {
    Type,
    Attr,
    Loc,
    Signature,
}

/// A parser of types, attributes, locations and resources, each from a text of its own.
pub(crate) struct TypeAttrParser<'a> {
    ctx: &'a Context,
    aliases: &'a AliasTable<'a>,
    memo: [FxHashMap<Box<str>, Memo>; 4],
    /// Size of the value being parsed, so far.
    size: Size,
    /// Remaining bytes of `MAX_SPARE`.
    spare: usize,
    /// Number of parts of fused locations that were copied into others.
    fused_parts: u64,
    /// Indices of the aliases whose definitions are being parsed.
    resolving: Vec<usize>,
    reader: Reader,
}

impl<'a> TypeAttrParser<'a> {
    /// Creates a parser of texts that may use `aliases`.
    pub(crate) fn new(ctx: &'a Context, aliases: &'a AliasTable<'a>) -> TypeAttrParser<'a> {
        TypeAttrParser::of_reader(ctx, aliases, Reader::Fast)
    }

    /// Creates the parser of a reader.
    pub(crate) fn of_reader(ctx: &'a Context, aliases: &'a AliasTable<'a>, reader: Reader) -> TypeAttrParser<'a> {
        TypeAttrParser {
            reader,
            ctx,
            aliases,
            memo: Default::default(),
            size: Size::default(),
            spare: MAX_SPARE,
            fused_parts: 0,
            resolving: Vec::new(),
        }
    }

    /// Parses a text that is a type.
    pub(crate) fn ty(&mut self, text: &str) -> Result<Type> {
        self.remember(SyntaxCategory::Type, text, |p| p.whole(Rule::whole_type, text, Self::type_pair))
    }

    /// Parses a text that is an attribute.
    pub(crate) fn attr(&mut self, text: &str) -> Result<Attr> {
        self.remember(SyntaxCategory::Attr, text, |p| {
            p.whole(Rule::whole_attr, text, |p, src, pair| p.attr_pair(src, pair, None))
        })
    }

    /// Parses a text that is an attribute of type `ty`, which numbers, strings and elements do not spell.
    pub(crate) fn attr_of_type(&mut self, text: &str, ty: Type) -> Result<Attr> {
        self.measured(|p| p.whole(Rule::whole_attr, text, |p, src, pair| p.attr_pair(src, pair, Some(ty)))).0
    }

    /// Parses a dictionary, `{a = 1, b}`.
    pub(crate) fn dict(&mut self, text: &str) -> Result<Attr> {
        self.remember(SyntaxCategory::Attr, text, |p| match p.quick_dict(text) {
            Some(dict) => Ok(dict),
            None => p.whole(Rule::whole_dict, text, |p, src, pair| p.attr_pair(src, pair, None)),
        })
    }

    /// Parses a function type, `(i32, f32) -> i1`.
    pub(crate) fn signature(&mut self, text: &str) -> Result<Type> {
        self.remember(SyntaxCategory::Signature, text, |p| p.whole(Rule::whole_signature, text, Self::type_pair))
    }

    /// Parses the location inside `loc(...)`.
    pub(crate) fn loc(&mut self, text: &str) -> Result<Attr> {
        self.remember(SyntaxCategory::Loc, text, |p| p.whole(Rule::whole_loc, text, Self::loc_pair))
    }

    /// Parses the resource section `{-# ... #-}` at the start of a text. Returns it and its length in bytes.
    pub(crate) fn resources(&mut self, text: &str) -> Result<(Resources, usize)> {
        // Parsed by hand: a blob is one token of many megabytes, which pest would copy and scan several times.
        resources::parse(text)
    }

    /// Does the same by the rules of the grammar.
    pub(crate) fn resources_by_grammar(&mut self, text: &str) -> Result<(Resources, usize)> {
        // If the grammar rejects a text, the hand-written parser words the error.
        resources::parse_by_grammar(text).map_err(|error| resources::parse(text).err().unwrap_or(error))
    }

    /// Parses the type at the start of a text. Returns it and its length in bytes.
    pub(crate) fn ty_prefix(&mut self, text: &str) -> Result<(Type, usize)> {
        self.prefix(SyntaxCategory::Type, Rule::type_prefix, text, Self::type_pair)
    }

    /// Parses the attribute at the start of a text. Returns it and its length in bytes.
    pub(crate) fn attr_prefix(&mut self, text: &str) -> Result<(Attr, usize)> {
        self.prefix(SyntaxCategory::Attr, Rule::attr_prefix, text, |p, src, pair| p.attr_pair(src, pair, None))
    }

    /// Parses the dictionary at the start of a text. Returns it and its length in bytes.
    pub(crate) fn dict_prefix(&mut self, text: &str) -> Result<(Attr, usize)> {
        self.prefix(SyntaxCategory::Attr, Rule::dict_prefix, text, |p, src, pair| p.attr_pair(src, pair, None))
    }

    /// Parses the function type at the start of a text. Returns it and its length in bytes.
    pub(crate) fn signature_prefix(&mut self, text: &str) -> Result<(Type, usize)> {
        self.prefix(SyntaxCategory::Signature, Rule::signature_prefix, text, Self::type_pair)
    }

    /// Parses `loc(...)` at the start of a text. Returns the location and the length of its text in bytes.
    pub(crate) fn loc_prefix(&mut self, text: &str) -> Result<(Attr, usize)> {
        self.prefix(SyntaxCategory::Loc, Rule::loc_prefix, text, |p, src, pair| p.attr_pair(src, pair, None))
    }

    /// Parses the value at the start of a text, from windows of doubling length: the cost is linear in the length of
    /// the value.
    fn prefix<K: Entity>(
        &mut self,
        kind: SyntaxCategory,
        rule: Rule,
        text: &str,
        convert: fn(&mut Self, &Source<'_>, Pair<'_, Rule>) -> Result<K>,
    ) -> Result<(K, usize)> {
        let mut at_least = 64;
        loop {
            let (window, is_all) = source::window(text, at_least);
            let piece = text[..window].trim_ascii_end();
            if let Some(key) = self.recall(kind, piece) {
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
                Ok((key, end)) => {
                    self.memorize(kind, &text[..end], key, size);
                    return Ok((key, end));
                }
                Err(error) if is_all || error.offset < piece.len() => return Err(error),
                // The window may have cut the value short.
                _ => at_least = window * 2,
            }
        }
    }

    /// Returns the memoized value of `text`, parsed by `read` the first time.
    fn remember<K: Entity>(
        &mut self,
        kind: SyntaxCategory,
        text: &str,
        read: impl FnOnce(&mut Self) -> Result<K>,
    ) -> Result<K> {
        if let Some(key) = self.recall(kind, text) {
            return Ok(key);
        }
        let (result, size) = self.measured(read);
        let key = result?;
        self.memorize(kind, text, key, size);
        Ok(key)
    }

    fn recall<K: Entity>(&mut self, kind: SyntaxCategory, text: &str) -> Option<K> {
        if text.len() > MAX_MEMO_LEN || self.reader == Reader::Grammar {
            return None;
        }
        let memo = self.memo[kind as usize].get(text)?;
        self.size.include(memo.size);
        Some(K::new(memo.key as usize))
    }

    fn memorize<K: Entity>(&mut self, kind: SyntaxCategory, text: &str, key: K, size: Size) {
        if text.len() <= MAX_MEMO_LEN {
            let memo = Memo { key: key.index() as u32, size };
            self.memo[kind as usize].insert(text.into(), memo);
        }
    }

    /// Parses a value within the size limits. Returns it and its size.
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

    /// Parses a text that is a single value.
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

    /// Applies a grammar rule to a text and converts the pairs, with enough stack for both.
    fn run<T>(
        &mut self,
        rule: Rule,
        text: &str,
        convert: impl FnOnce(&mut Self, &Source<'_>, pest::iterators::Pairs<'_, Rule>) -> Result<T>,
    ) -> Result<T> {
        let src = Source::new(text)?;
        let depth = src.depth;
        let result = src.with_stack(|| {
            let pairs = Grammar::parse(rule, &src.text).map_err(|error| grammar::explain(&src, &error))?;
            convert(self, &src, pairs)
        });
        self.size.depth += depth;
        if self.size.depth > MAX_VALUE_DEPTH {
            return Err(ParseError::new(0, format!("{TOO_DEEP} {MAX_VALUE_DEPTH} levels with all aliases")));
        }
        result
    }

    /// Counts one more type or attribute in the value being parsed.
    fn count(&mut self) {
        self.size.weight = self.size.weight.saturating_add(1);
    }

    fn intern(&mut self, data: AttrData) -> Attr {
        self.ctx.attr(data)
    }
}

impl Context {
    /// Parses a type; aliases are undefined.
    pub fn parse_type(&self, text: &str) -> Result<Type> {
        let aliases = AliasTable::new();
        TypeAttrParser::new(self, &aliases).ty(text)
    }

    /// Parses an attribute; aliases are undefined.
    pub fn parse_attr(&self, text: &str) -> Result<Attr> {
        let aliases = AliasTable::new();
        TypeAttrParser::new(self, &aliases).attr(text)
    }
}
