//! The resource section at the end of a file: `{-# dialect_resources: {...}, external_resources: {...} #-}`.

use super::grammar::{Grammar, Rule, explain};
use super::source::{Source, string_end};
use super::strings::{name, unescape};
use super::{ParseError, Result, hex, push_hex};
use crate::module::{Resource, Resources};
use bytes::Bytes;
use indexmap::IndexMap;
use pest::Parser;
use pest::iterators::{Pair, Pairs};
use rustc_hash::FxHashMap;
use std::borrow::Cow;

/// Parses the section at the start of a text, which is three levels of `key: value`. Returns it and its length in bytes.
/// An error at the end of the text is reported after the last token, as mlir-opt does.
pub(super) fn parse(text: &str) -> Result<(Resources, usize)> {
    let last = text.trim_end().len();
    parse_section(text).map_err(|error| ParseError { offset: error.offset.min(last), ..error })
}

fn parse_section(text: &str) -> Result<(Resources, usize)> {
    let mut reader = ResourceParser { text, at: 0 };
    let mut sections = Resources::new();
    reader.expect("{-#")?;
    reader.list("#-}", |reader| {
        let (key, at) = reader.key("expected identifier key in file metadata dictionary")?;
        check_section(&key, at)?;
        let groups = sections.entry(key.into_owned()).or_default();
        reader.dict(|reader| {
            let (key, _) = reader.key("expected identifier key for 'resource' entry")?;
            let entries = groups.entry(key.into_owned()).or_default();
            reader.dict(|reader| reader.entry(entries))
        })
    })?;
    Ok((sections, reader.at))
}

/// Does the same as [`parse`] by the rules of the grammar.
pub(super) fn parse_by_grammar(text: &str) -> Result<(Resources, usize)> {
    let pairs = Grammar::parse(Rule::resources_prefix, text);
    let mut pairs = pairs.map_err(|error| explain(&Source::unlimited(text), &error))?;
    let mut sections = Resources::new();
    let Some(pair) = pairs.next() else { return Ok((sections, 0)) };
    let end = pair.as_span().end();
    for section in pair.into_inner() {
        let (key, at, groups) = keyed(section)?;
        check_section(&key, at)?;
        let known = sections.entry(key.into_owned()).or_default();
        for group in groups {
            let (key, _, entries) = keyed(group)?;
            let known = known.entry(key.into_owned()).or_default();
            for entry in entries {
                let (key, _, mut value) = keyed(entry)?;
                let Some(value) = value.next() else { continue };
                known.insert(key.into_owned(), resource(value.as_str(), value.as_span().start())?);
            }
        }
    }
    Ok((sections, end))
}

/// Splits a pair `key: ...`. Returns the key, its offset, and the pairs after it.
fn keyed(pair: Pair<'_, Rule>) -> Result<(Cow<'_, str>, usize, Pairs<'_, Rule>)> {
    let at = pair.as_span().start();
    let mut inner = pair.into_inner();
    let key = inner.next().map_or("", |key| key.as_str());
    Ok((name(key, at)?, at, inner))
}

struct ResourceParser<'s> {
    text: &'s str,
    at: usize,
}

impl<'s> ResourceParser<'s> {
    fn skip_blank(&mut self) {
        loop {
            let rest = &self.text[self.at..];
            let trimmed = rest.trim_start_matches([' ', '\t', '\n', '\r']);
            self.at += rest.len() - trimmed.len();
            if !trimmed.starts_with("//") {
                return;
            }
            self.at += memchr::memchr(b'\n', trimmed.as_bytes()).unwrap_or(trimmed.len());
        }
    }

    fn take(&mut self, token: &str) -> bool {
        self.skip_blank();
        let found = self.text[self.at..].starts_with(token);
        self.at += if found { token.len() } else { 0 };
        found
    }

    fn expect(&mut self, token: &str) -> Result<()> {
        match self.take(token) {
            true => Ok(()),
            false => Err(ParseError::new(self.at, format!("expected '{token}'"))),
        }
    }

    /// Parses a string literal and returns it with its quotes.
    fn string(&mut self) -> Result<&'s str> {
        let start = self.at;
        self.at = string_end(self.text.as_bytes(), start + 1);
        let literal = &self.text[start..self.at];
        match literal.len() >= 2 && literal.ends_with('"') {
            true => Ok(literal),
            false => Err(ParseError::new(start, "expected '\"' in string literal")),
        }
    }

    /// Parses an identifier or string and the colon after it. Returns the key and its offset.
    fn key(&mut self, message: &str) -> Result<(Cow<'s, str>, usize)> {
        self.skip_blank();
        let start = self.at;
        let text = if self.text[start..].starts_with('"') { self.string()? } else { self.word() };
        if text.is_empty() {
            return Err(ParseError::new(start, message));
        }
        let key = name(text, start)?;
        self.expect(":")?;
        Ok((key, start))
    }

    fn word(&mut self) -> &'s str {
        let rest = &self.text[self.at..];
        let starts = rest.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
        let is_part = |b: &u8| b.is_ascii_alphanumeric() || b"_$.".contains(b);
        let len = if starts { rest.bytes().take_while(|b| is_part(b)).count() } else { 0 };
        self.at += len;
        &rest[..len]
    }

    /// Parses comma-separated items up to and including `close`.
    fn list(&mut self, close: &str, mut item: impl FnMut(&mut Self) -> Result<()>) -> Result<()> {
        if self.take(close) {
            return Ok(());
        }
        loop {
            item(self)?;
            if !self.take(",") {
                return self.expect(close);
            }
        }
    }

    /// Parses comma-separated entries in braces.
    fn dict(&mut self, entry: impl FnMut(&mut Self) -> Result<()>) -> Result<()> {
        self.expect("{")?;
        self.list("}", entry)
    }

    /// Parses `key: "0x..."`, `key: "text"` or `key: true`.
    fn entry(&mut self, entries: &mut IndexMap<String, Resource>) -> Result<()> {
        let (key, _) = self.key("expected identifier key for 'resource' entry")?;
        self.skip_blank();
        let at = self.at;
        let value = if self.text[at..].starts_with('"') { self.string()? } else { self.word() };
        entries.insert(key.into_owned(), resource(value, at)?);
        Ok(())
    }
}

/// Checks the key of a section at `offset`.
fn check_section(key: &str, offset: usize) -> Result<()> {
    match key {
        "dialect_resources" | "external_resources" => Ok(()),
        _ => Err(ParseError::new(offset, format!("unknown key '{key}' in file metadata dictionary"))),
    }
}

/// Parses the value of an entry at `offset`: a string or a boolean.
fn resource(text: &str, offset: usize) -> Result<Resource> {
    match text {
        "true" => return Ok(Resource::Flag(true)),
        "false" => return Ok(Resource::Flag(false)),
        _ if text.starts_with('"') => {}
        _ => return Err(ParseError::new(offset, "expected a string or boolean as the resource's value")),
    }
    if let Some(blob) = blob(text) {
        return Ok(blob);
    }
    let bytes = unescape(text, offset)?;
    let utf8 = |_| ParseError::new(offset, "a resource's string must be UTF-8");
    Ok(Resource::Text(std::str::from_utf8(&bytes).map_err(utf8)?.into()))
}

/// Parses a string of hexadecimal digits: the alignment, a power of two, in four bytes, then the data.
fn blob(literal: &str) -> Option<Resource> {
    let digits = literal.strip_prefix("\"0x")?.strip_suffix('"')?;
    let bytes = Bytes::from(hex::decode(digits.as_bytes())?);
    let align = u32::from_le_bytes(bytes.get(..4)?.try_into().ok()?);
    align.is_power_of_two().then(|| Resource::Blob(align, bytes.slice(4..)))
}

/// Appends the section as MLIR prints it; nothing if there are no resources. Resources with a text longer than `elide`
/// are elided. Dialect resources are printed in the order of `mentioned`, their first uses; unused ones are dropped, as
/// in MLIR.
pub(crate) fn print_resources(resources: &Resources, mentioned: &[&str], elide: Option<usize>, out: &mut String) {
    if resources.values().flat_map(IndexMap::values).all(IndexMap::is_empty) {
        return;
    }
    let ranks: FxHashMap<&str, usize> = mentioned.iter().enumerate().map(|(i, &key)| (key, i)).collect();
    let shown = |(_, value): &(&String, &Resource)| elide.is_none_or(|limit| text_len(value) <= limit);
    out.push_str("\n{-#\n");
    let mut section_head = KeyList::new("  ");
    for (section, groups) in resources {
        let mut group_head = KeyList::new("    ");
        for (group, entries) in groups {
            let mut entry_head = KeyList::new("      ");
            let mut entries: Vec<(&String, &Resource)> = entries.iter().filter(shown).collect();
            if section == "dialect_resources" && group == "builtin" {
                entries.sort_by_key(|(key, _)| ranks.get(key.as_str()).copied().unwrap_or(usize::MAX));
            }
            for (key, value) in entries {
                if entry_head.first && group_head.first {
                    section_head.open(section, out);
                }
                if entry_head.first {
                    group_head.open(group, out);
                }
                entry_head.begin(key, out);
                print_resource(value, out);
            }
            entry_head.close(out);
        }
        group_head.close(out);
    }
    out.push_str("\n#-}\n");
}

/// The comma-separated, indented keys of one dictionary.
struct KeyList {
    indent: &'static str,
    first: bool,
}

impl KeyList {
    fn new(indent: &'static str) -> KeyList {
        KeyList { indent, first: true }
    }

    fn begin(&mut self, key: &str, out: &mut String) {
        out.push_str(if self.first { "" } else { ",\n" });
        self.first = false;
        out.push_str(self.indent);
        crate::text::print_attr::push_keyword_or_string(key, out);
        out.push_str(": ");
    }

    fn open(&mut self, key: &str, out: &mut String) {
        self.begin(key, out);
        out.push_str("{\n");
    }

    /// Closes the dictionary, if it was opened.
    fn close(&self, out: &mut String) {
        if !self.first {
            out.push('\n');
            out.push_str(&self.indent[2..]);
            out.push('}');
        }
    }
}

/// Returns the length of a resource's text with its quotes; 0 for flags.
fn text_len(value: &Resource) -> usize {
    match value {
        Resource::Blob(_, bytes) => 2 * (4 + bytes.len()) + 4,
        Resource::Text(text) => {
            let mut out = String::new();
            crate::text::print_attr::push_string(text.as_bytes(), &mut out);
            out.len()
        }
        Resource::Flag(_) => 0,
    }
}

fn print_resource(value: &Resource, out: &mut String) {
    match value {
        Resource::Blob(align, bytes) => {
            out.push_str("\"0x");
            push_hex(&align.to_le_bytes(), out);
            push_hex(bytes, out);
            out.push('"');
        }
        Resource::Text(text) => crate::text::print_attr::push_string(text.as_bytes(), out),
        Resource::Flag(flag) => out.push_str(if *flag { "true" } else { "false" }),
    }
}
