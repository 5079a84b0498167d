//! SSA names while parsing: which value a `%name` means here, and which uses still wait for their definition.

use crate::module::Value;
use rustc_hash::{FxHashMap, FxHashSet};

/// The names that are visible at the place being parsed.
#[derive(Default)]
pub(crate) struct Names<'a> {
    map: FxHashMap<&'a str, Entry>,
    /// What the definitions of open scopes replaced, to be restored when their scope closes.
    undo: Vec<(&'a str, Option<Entry>)>,
    forward: FxHashMap<&'a str, Vec<Forward>>,
    /// The depth of the open scope, and of the innermost one that hides all names outside.
    depth: u32,
    isolation: u32,
    /// Names in text that could not be read: they may be missing only because their definitions are.
    pub(crate) poisoned: FxHashSet<&'a str>,
}

#[derive(Clone, Copy)]
struct Entry {
    first: Value,
    count: u32,
    offset: usize,
    depth: u32,
}

/// A use before the definition.
#[derive(Clone, Copy)]
struct Forward {
    placeholder: Value,
    number: u32,
    offset: usize,
    isolation: u32,
}

/// What [`Names::push`] changed.
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

    /// Closes the scope that gave `outer`.
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

    /// The depth of the innermost isolated scope.
    pub(crate) fn isolation(&self) -> u32 {
        self.isolation
    }

    /// First value, number of values and place of definition.
    #[inline]
    pub(crate) fn get(&self, name: &str) -> Option<(Value, u32, usize)> {
        let entry = self.map.get(name)?;
        (entry.depth >= self.isolation).then_some((entry.first, entry.count, entry.offset))
    }

    /// Where a name is defined that cannot be seen from here, since an isolated scope began.
    pub(crate) fn hidden(&self, name: &str) -> Option<usize> {
        self.map.get(name).filter(|entry| entry.depth < self.isolation).map(|entry| entry.offset)
    }

    /// Where the name was defined already, if a second definition is an error here.
    #[inline]
    pub(crate) fn redefined(&self, name: &str) -> Option<usize> {
        self.get(name).map(|(_, _, offset)| offset)
    }

    /// Defines a name and returns the uses that waited for it: placeholder, result number, place.
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

    /// The placeholder of an earlier use.
    pub(crate) fn forward(&self, name: &str, number: u32) -> Option<Value> {
        let waiting = self.forward.get(name)?;
        waiting.iter().find(|f| f.number == number && f.isolation == self.isolation).map(|f| f.placeholder)
    }

    /// Notes a use before the definition.
    pub(crate) fn add_forward(&mut self, name: &'a str, number: u32, placeholder: Value, offset: usize) {
        let isolation = self.isolation;
        self.forward.entry(name).or_default().push(Forward { placeholder, number, offset, isolation });
    }

    /// Removes and returns the names that were used in isolated scope `isolation` and never defined, in text order.
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

    /// Whether no name means anything here, and no use waits for its definition.
    pub(crate) fn is_empty(&self) -> bool {
        self.map.is_empty() && self.forward.is_empty()
    }

    /// The names that are visible here.
    pub(crate) fn visible(&self) -> impl Iterator<Item = &'a str> + '_ {
        let mut names: Vec<&str> =
            self.map.iter().filter(|(_, e)| e.depth >= self.isolation).map(|(n, _)| *n).collect();
        names.sort_unstable();
        names.into_iter()
    }
}
