//! The aliases of a file: `#map = affine_map<...>`, `!t = ...`.

use super::{Memo, ParseError, Result, TypeAttrParser};
use crate::attrs::{AttrData, Piece};
use crate::entity::Entity;
use crate::intern::{Attr, Type};
use crate::module::AliasHints;
use crate::types::TypeData;
use rustc_hash::FxHashMap;
use std::sync::{Mutex, OnceLock};

/// The prefix of messages about uses of an alias whose definition is invalid.
pub(crate) const OF_ALIAS: &str = "in the definition of alias '";

/// The aliases that a file defines, each parsed at its first use, and the `distinct` attributes of the file, by number.
/// Parsers on several threads may share one table.
#[derive(Default)]
pub(crate) struct AliasTable<'a> {
    entries: Vec<AliasDefinition<'a>>,
    /// Index of each alias, by name with its sigil (`#` or `!`).
    index: FxHashMap<&'a str, usize>,
    pub(super) distinct: Mutex<FxHashMap<u64, Attr>>,
    /// Number of aliases of each dialect attribute.
    named: Mutex<FxHashMap<Attr, u32>>,
}

struct AliasDefinition<'a> {
    name: &'a str,
    /// The text of the file from the definition's value on.
    text: &'a str,
    /// Byte offset of `text` in the file.
    offset: usize,
    /// The value and the length of its text.
    value: OnceLock<Result<(Memo, usize)>>,
}

impl<'a> AliasTable<'a> {
    /// Creates an empty table.
    pub(crate) fn new() -> AliasTable<'a> {
        AliasTable::default()
    }

    /// Adds an alias. `name` includes the sigil; `text` is the file's text after the `=`, at byte `offset`, and may
    /// continue after the value. The error says that the name is defined twice or invalid.
    pub(crate) fn define(&mut self, name: &'a str, text: &'a str, offset: usize) -> std::result::Result<(), String> {
        let kind = if name.starts_with('!') { "type" } else { "attribute" };
        let Some(id) = name.strip_prefix(['#', '!']).filter(|id| !id.is_empty()) else {
            return Err(format!("'{name}' is no alias's name"));
        };
        if id.contains('.') {
            return Err(format!("{kind} names with a '.' are reserved for dialect-defined names"));
        }
        if self.index.contains_key(name) {
            return Err(format!("redefinition of {kind} alias id '{id}'"));
        }
        self.index.insert(name, self.entries.len());
        self.entries.push(AliasDefinition { name, text, offset, value: OnceLock::new() });
        Ok(())
    }

    /// Returns the offset in the file of the definition of `name` (with its sigil).
    pub(crate) fn definition(&self, name: &str) -> Option<usize> {
        self.index.get(name).map(|&i| self.entries[i].offset)
    }

    /// Whether `name` (with its sigil) is defined.
    pub(crate) fn contains(&self, name: &str) -> bool {
        self.index.contains_key(name)
    }
}

impl TypeAttrParser<'_> {
    /// Parses the definition of the alias `name` (with its sigil), once. Returns the length of its text. The offset of
    /// an error is relative to that text.
    pub(crate) fn alias(&mut self, name: &str) -> Result<usize> {
        let Some(&i) = self.aliases.index.get(name) else {
            return Err(ParseError::new(0, format!("undefined symbol alias id '{name}'")));
        };
        let (result, _) = self.measured(|p| p.resolve(i));
        result.map(|(_, len)| len)
    }

    /// Parses all aliases on which values depend. Required before threads share the table, since the order in which two
    /// aliases of the same text are parsed matters.
    pub(crate) fn read_aliases(&mut self) {
        for i in 0..self.aliases.entries.len() {
            if !self.aliases.entries[i].text.starts_with("loc(") {
                // An error is reported where the alias is used.
                let _ = self.measured(|p| p.resolve(i));
            }
        }
    }

    /// Returns the base names, without trailing digits, of the aliases of dialect attributes and types and of strings.
    /// The printer reuses them.
    pub(crate) fn hints(&self) -> AliasHints {
        let mut hints = AliasHints::default();
        for entry in &self.aliases.entries {
            let Some(Ok((memo, _))) = entry.value.get() else { continue };
            let base = entry.name[1..].trim_end_matches(|c: char| c.is_ascii_digit());
            if base.is_empty() {
                continue;
            }
            let key = memo.key as usize;
            if entry.name.starts_with('!') {
                if matches!(self.ctx.type_data(Type::new(key)), TypeData::Dialect { .. } | TypeData::Declared { .. }) {
                    hints.types.entry(Type::new(key)).or_insert_with(|| self.ctx.str(base));
                }
            } else if matches!(
                self.ctx.attr_data(Attr::new(key)),
                AttrData::Dialect { .. } | AttrData::Declared { .. } | AttrData::String { .. }
            ) {
                hints.attrs.entry(Attr::new(key)).or_insert_with(|| self.ctx.str(base));
            }
        }
        hints
    }

    /// Returns the value of the alias `name` (with its sigil), used at `offset`.
    pub(super) fn aliased(&mut self, name: &str, offset: usize) -> Result<u32> {
        let Some(&i) = self.aliases.index.get(name) else {
            return Err(ParseError::new(offset, format!("undefined symbol alias id '{}'", &name[1..])));
        };
        self.resolve(i).map(|(key, _)| key).map_err(|error| {
            let message = match error.message.starts_with(OF_ALIAS) {
                true => error.message,
                false => format!("{OF_ALIAS}{name}': {}", error.message),
            };
            ParseError { offset, message }
        })
    }

    /// Returns a distinct twin of the attribute if an earlier alias has the same text: a dialect that prints two names
    /// for one text distinguishes attributes by data that it does not print.
    fn own(&mut self, attr: Attr) -> Attr {
        let AttrData::Dialect { dialect, body, ty } = self.ctx.attr_data(attr) else { return attr };
        let body = match &**body {
            [body @ .., Piece::Twin(_)] => body,
            body => body,
        };
        let first = self.ctx.attr(AttrData::Dialect { dialect: *dialect, body: body.into(), ty: *ty });
        let mut named = self.aliases.named.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let aliases = named.entry(first).or_insert(0);
        let twin = std::mem::replace(aliases, *aliases + 1);
        if twin == 0 {
            return first;
        }
        let body = body.iter().cloned().chain([Piece::Twin(twin)]).collect();
        self.ctx.attr(AttrData::Dialect { dialect: *dialect, body, ty: *ty })
    }

    fn resolve(&mut self, i: usize) -> Result<(u32, usize)> {
        let entry = &self.aliases.entries[i];
        if let Some(known) = entry.value.get() {
            let (memo, len) = known.clone()?;
            self.size.include(memo.size);
            return Ok((memo.key, len));
        }
        if self.resolving.contains(&i) {
            return Err(ParseError::new(0, "alias is defined by itself"));
        }
        if self.resolving.len() >= super::MAX_VALUE_DEPTH {
            return Err(ParseError::new(0, "aliases of aliases nest too deep"));
        }
        self.resolving.push(i);
        let (result, size) = self.measured(|p| match entry.name.starts_with('!') {
            true => p.ty_prefix(entry.text).map(|(ty, len)| (ty.index(), len)),
            false => p.attr_prefix(entry.text).map(|(attr, len)| (p.own(attr).index(), len)),
        });
        self.resolving.pop();
        let value = result.map(|(key, len)| (Memo { key: key as u32, size }, len));
        // Another thread may have set the value first; it is the same.
        let known = entry.value.get_or_init(|| value);
        known.clone().map(|(memo, len)| (memo.key, len))
    }
}
