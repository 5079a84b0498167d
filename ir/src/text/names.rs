//! Scopes of SSA names during parsing, with forward references.

use crate::module::Value;
use rustc_hash::{FxHashMap, FxHashSet};

/// The names visible at the current position.
#[derive(Default)]
pub(crate) struct Names<'a> {
    /// The definitions of names that are numbers below `max_number`, by number. Most names are; these are not hashed.
    numbered: Vec<NameDefinition>,
    max_number: usize,
    /// The definitions of all other names.
    map: FxHashMap<&'a str, NameDefinition>,
    /// Entries that the definitions of open scopes shadow, restored when the scope closes.
    undo: Vec<(&'a str, Option<NameDefinition>)>,
    forward: FxHashMap<&'a str, Vec<Forward>>,
    /// Depth of the open scope, and of the innermost isolated one, which hides all names outside.
    depth: u32,
    isolation: u32,
    /// Names in text that failed to parse; their uses elsewhere get no further error.
    pub(crate) poisoned: FxHashSet<&'a str>,
}

#[derive(Clone, Copy)]
struct NameDefinition {
    first: Value,
    /// Number of values; 0 in `Names::numbered` for a number that is not defined.
    count: u32,
    /// Byte offset of the definition; files are limited to 4 GiB.
    offset: u32,
    depth: u32,
}

const UNDEFINED: NameDefinition = NameDefinition { first: Value(0), count: 0, offset: 0, depth: 0 };

/// Minimum number of bytes of text per row of `Names::numbered`, which bounds its memory by that of the text.
const BYTES_PER_NUMBER: usize = 16;

/// A forward reference: a use before the definition.
#[derive(Clone, Copy)]
struct Forward {
    placeholder: Value,
    number: u32,
    offset: usize,
    isolation: u32,
}

/// The state that [`Names::push`] saves.
#[derive(Clone, Copy)]
pub(crate) struct Outer {
    undo: usize,
    isolation: u32,
}

impl<'a> Names<'a> {
    /// Creates the names of a text of `len` bytes.
    pub(crate) fn new(len: usize) -> Names<'a> {
        Names { max_number: len / BYTES_PER_NUMBER, ..Names::default() }
    }

    /// Returns the row of `numbered` for a name that is a small number without leading zeros.
    #[inline]
    fn number(&self, name: &str) -> Option<usize> {
        let bytes = name.as_bytes();
        if bytes.len() > 8 || (bytes.len() > 1 && bytes[0] == b'0') {
            return None;
        }
        let mut number = 0;
        for digit in bytes {
            number = number * 10 + usize::from(digit.wrapping_sub(b'0'));
            if !digit.is_ascii_digit() {
                return None;
            }
        }
        (number < self.max_number).then_some(number)
    }

    /// Returns the definition of a name in any open scope.
    #[inline]
    fn entry(&self, name: &str) -> Option<&NameDefinition> {
        match self.number(name) {
            Some(number) => self.numbered.get(number).filter(|entry| entry.count > 0),
            None => self.map.get(name),
        }
    }

    /// Sets or removes the definition of a name, and returns the old one.
    #[inline]
    fn set_entry(&mut self, name: &'a str, entry: Option<NameDefinition>) -> Option<NameDefinition> {
        let Some(number) = self.number(name) else {
            return match entry {
                Some(entry) => self.map.insert(name, entry),
                None => self.map.remove(name),
            };
        };
        if number >= self.numbered.len() {
            self.numbered.resize(number + 1, UNDEFINED);
        }
        let old = std::mem::replace(&mut self.numbered[number], entry.unwrap_or(UNDEFINED));
        Some(old).filter(|old| old.count > 0)
    }

    /// Opens a scope.
    pub(crate) fn push(&mut self, isolated: bool) -> Outer {
        self.depth += 1;
        let outer = Outer { undo: self.undo.len(), isolation: self.isolation };
        if isolated {
            self.isolation = self.depth;
        }
        outer
    }

    /// Closes the scope whose `push` returned `outer`.
    pub(crate) fn pop(&mut self, outer: Outer) {
        while self.undo.len() > outer.undo {
            let (name, entry) = self.undo.pop().expect("longer than before");
            self.set_entry(name, entry);
        }
        self.isolation = outer.isolation;
        self.depth -= 1;
    }

    /// Returns the depth of the innermost isolated scope.
    pub(crate) fn isolation(&self) -> u32 {
        self.isolation
    }

    /// Returns the first value of a name, the number of its values and the offset of its definition.
    #[inline]
    pub(crate) fn get(&self, name: &str) -> Option<(Value, u32, usize)> {
        let entry = self.entry(name)?;
        (entry.depth >= self.isolation).then_some((entry.first, entry.count, entry.offset as usize))
    }

    /// Returns the offset of a definition that an isolated scope hides.
    pub(crate) fn hidden(&self, name: &str) -> Option<usize> {
        self.entry(name).filter(|entry| entry.depth < self.isolation).map(|entry| entry.offset as usize)
    }

    /// Returns the offset of the earlier definition if a second one is an error here.
    #[inline]
    pub(crate) fn redefined(&self, name: &str) -> Option<usize> {
        self.get(name).map(|(_, _, offset)| offset)
    }

    /// Defines a name and returns its forward references: placeholder, result number, offset.
    pub(crate) fn define(
        &mut self,
        name: &'a str,
        offset: usize,
        first: Value,
        count: u32,
    ) -> Vec<(Value, u32, usize)> {
        let entry = NameDefinition { first, count, offset: offset as u32, depth: self.depth };
        let old = self.set_entry(name, Some(entry));
        self.undo.push((name, old));
        if self.forward.is_empty() {
            return Vec::new();
        }
        let Some(waiting) = self.forward.get_mut(name) else { return Vec::new() };
        let isolation = self.isolation;
        let (ready, still): (Vec<_>, Vec<_>) = waiting.iter().partition(|f| f.isolation == isolation);
        if still.is_empty() {
            self.forward.remove(name);
        } else {
            *waiting = still;
        }
        ready.iter().map(|f: &Forward| (f.placeholder, f.number, f.offset)).collect()
    }

    /// Returns the placeholder of an earlier forward reference.
    pub(crate) fn forward(&self, name: &str, number: u32) -> Option<Value> {
        let waiting = self.forward.get(name)?;
        waiting.iter().find(|f| f.number == number && f.isolation == self.isolation).map(|f| f.placeholder)
    }

    /// Adds a forward reference.
    pub(crate) fn add_forward(&mut self, name: &'a str, number: u32, placeholder: Value, offset: usize) {
        let isolation = self.isolation;
        self.forward.entry(name).or_default().push(Forward { placeholder, number, offset, isolation });
    }

    /// Removes and returns the names used in the isolated scope `isolation` and never defined, in text order.
    pub(crate) fn unresolved(&mut self, isolation: u32) -> Vec<(&'a str, usize)> {
        let mut open = Vec::new();
        self.forward.retain(|name, waiting| {
            open.extend(waiting.iter().filter(|f| f.isolation >= isolation).map(|f| (*name, f.offset)));
            waiting.retain(|f| f.isolation < isolation);
            !waiting.is_empty()
        });
        open.sort_by_key(|e| e.1);
        open
    }

    /// Whether no name is visible and no forward reference is pending.
    pub(crate) fn is_empty(&self) -> bool {
        // Each definition in an open scope is in `undo`.
        self.undo.is_empty() && self.forward.is_empty()
    }

    /// Returns the visible names.
    pub(crate) fn visible(&self) -> impl Iterator<Item = &'a str> + '_ {
        let mut names: Vec<&str> = self.undo.iter().map(|(name, _)| *name).filter(|n| self.get(n).is_some()).collect();
        names.sort_unstable();
        names.dedup();
        names.into_iter()
    }
}
