//! The aliases of a file: `#map = affine_map<...>`, `!t = ...`.

use super::{FineParser, Memo, ParseError, Result};
use crate::attrs::{AttrData, Piece};
use crate::entity::Entity;
use crate::intern::{Attr, Type};
use crate::module::AliasHints;
use crate::types::TypeData;
use rustc_hash::FxHashMap;
use std::sync::{Mutex, OnceLock};

/// How messages begin that are about the use of an alias whose definition is wrong.
pub(crate) const OF_ALIAS: &str = "in the definition of alias '";

/// The aliases that a file defines, each read when it is first asked for, wherever in the file it is defined; and the
/// `distinct` attributes that were read from the file, by number. Parsers on several threads may share one table.
#[derive(Default)]
pub(crate) struct AliasTable<'a> {
    entries: Vec<Entry<'a>>,
    /// By name, with its `#` or `!`.
    index: FxHashMap<&'a str, usize>,
    pub(super) distinct: Mutex<FxHashMap<u64, Attr>>,
    /// The number of aliases of each dialect's attribute.
    named: Mutex<FxHashMap<Attr, u32>>,
}

struct Entry<'a> {
    name: &'a str,
    /// The text of the file from the definition on.
    text: &'a str,
    /// Where that is in the file.
    offset: usize,
    /// The value, and the length of its text.
    value: OnceLock<Result<(Memo, usize)>>,
}

impl<'a> AliasTable<'a> {
    /// A table without aliases.
    pub(crate) fn new() -> AliasTable<'a> {
        AliasTable::default()
    }

    /// Adds an alias. `name` includes the `#` or `!`; `text` is what follows the `=`, at byte `offset` of the file, and may
    /// go on after the value. Errors when the name is taken or is not an alias's.
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
        self.entries.push(Entry { name, text, offset, value: OnceLock::new() });
        Ok(())
    }

    /// Where in the file the value of `name` (with its `#` or `!`) is defined.
    pub(crate) fn definition(&self, name: &str) -> Option<usize> {
        self.index.get(name).map(|&i| self.entries[i].offset)
    }

    /// Whether `name` (with its `#` or `!`) is defined.
    pub(crate) fn contains(&self, name: &str) -> bool {
        self.index.contains_key(name)
    }
}

impl FineParser<'_> {
    /// Reads the definition of the alias `name` (with its `#` or `!`), unless that is done: the length of its text. The
    /// offset of an error is one in the text of the definition.
    pub(crate) fn alias(&mut self, name: &str) -> Result<usize> {
        let Some(&i) = self.aliases.index.get(name) else {
            return Err(ParseError::new(0, format!("undefined symbol alias id '{name}'")));
        };
        let (result, _) = self.measured(|p| p.resolve(i));
        result.map(|(_, len)| len)
    }

    /// Reads all aliases that the values of others depend on. Threads that share the table may do so only then: which of two
    /// aliases with one text is read first makes a difference.
    pub(crate) fn read_aliases(&mut self) {
        for i in 0..self.aliases.entries.len() {
            if !self.aliases.entries[i].text.starts_with("loc(") {
                // An error is kept for those who ask for the alias.
                let _ = self.measured(|p| p.resolve(i));
            }
        }
    }

    /// The names by which the file knows dialects' attributes and types, and strings, without the digits at their ends.
    /// These are printed by an alias again.
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
                if matches!(self.ctx.type_data(Type::new(key)), TypeData::Dialect { .. }) {
                    hints.types.entry(Type::new(key)).or_insert_with(|| self.ctx.str(base));
                }
            } else if matches!(self.ctx.attr_data(Attr::new(key)), AttrData::Dialect { .. } | AttrData::String { .. }) {
                hints.attrs.entry(Attr::new(key)).or_insert_with(|| self.ctx.str(base));
            }
        }
        hints
    }

    /// The value of the alias `name` (with its `#` or `!`), which the text mentions at `offset`.
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

    /// Another attribute with the same text, if an alias stands for this one already: a dialect that gives one text two
    /// names has two attributes in mind, which differ in what it does not print.
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
        // Another thread may have been faster; its value is the same.
        let known = entry.value.get_or_init(|| value);
        known.clone().map(|(memo, len)| (memo.key, len))
    }
}
