//! Scopes of SSA names during parsing, with forward references.

use crate::module::Value;
use rustc_hash::{FxHashMap, FxHashSet};

/// The names visible at the current position.
#[derive(Default)]
pub(crate) struct Names<'a> {
    map: FxHashMap<&'a str, Entry>,
    /// Entries that the definitions of open scopes shadow, restored when the scope closes.
    undo: Vec<(&'a str, Option<Entry>)>,
    forward: FxHashMap<&'a str, Vec<Forward>>,
    /// Depth of the open scope, and of the innermost isolated one, which hides all names outside.
    depth: u32,
    isolation: u32,
    /// Names in text that failed to parse; their uses elsewhere get no further error.
    pub(crate) poisoned: FxHashSet<&'a str>,
}

#[derive(Clone, Copy)]
struct Entry {
    first: Value,
    count: u32,
    offset: usize,
    depth: u32,
}

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
            match entry {
                Some(entry) => self.map.insert(name, entry),
                None => self.map.remove(name),
            };
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
        let entry = self.map.get(name)?;
        (entry.depth >= self.isolation).then_some((entry.first, entry.count, entry.offset))
    }

    /// Returns the offset of a definition that an isolated scope hides.
    pub(crate) fn hidden(&self, name: &str) -> Option<usize> {
        self.map.get(name).filter(|entry| entry.depth < self.isolation).map(|entry| entry.offset)
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
        let old = self.map.insert(name, Entry { first, count, offset, depth: self.depth });
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
        self.map.is_empty() && self.forward.is_empty()
    }

    /// Returns the visible names.
    pub(crate) fn visible(&self) -> impl Iterator<Item = &'a str> + '_ {
        let mut names: Vec<&str> =
            self.map.iter().filter(|(_, e)| e.depth >= self.isolation).map(|(n, _)| *n).collect();
        names.sort_unstable();
        names.into_iter()
    }
}
