//! Coverage statistics of a campaign.

use gradus_ir::greedy::canonicalizations;
use gradus_ir::pass::{Action, ActionUnit, Observer, PATTERN};
use gradus_ir::{Context, OpName};
use indexmap::{IndexMap, IndexSet};
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

/// Statistics of op insertion.
#[derive(Clone, Default, Debug)]
pub struct InsertionStatistics {
    /// For each kind of op, the number of insertions and of those that were valid at the first attempt.
    kinds: IndexMap<String, (u64, u64)>,
}

impl InsertionStatistics {
    pub(crate) fn tried(&mut self, kind: &str, valid: bool) {
        let (tried, right) = match self.kinds.get_mut(kind) {
            Some(entry) => entry,
            None => self.kinds.entry(kind.to_owned()).or_default(),
        };
        *tried += 1;
        *right += u64::from(valid);
    }

    /// Returns the number of kinds of ops that were tried, and of those that were valid in more than 90 % of attempts.
    pub fn kinds(&self) -> (usize, usize) {
        let good = self.kinds.values().filter(|(tried, valid)| 10 * valid >= 9 * tried).count();
        (self.kinds.len(), good)
    }

    /// Returns the number of ops that were tried, and of those that were valid at the first attempt.
    pub fn ops(&self) -> (u64, u64) {
        self.kinds.values().fold((0, 0), |(tried, valid), kind| (tried + kind.0, valid + kind.1))
    }

    /// Returns the kinds that were valid in fewer than 90 % of attempts.
    pub fn invalid(&self) -> impl Iterator<Item = (&str, u64, u64)> {
        let bad = self.kinds.iter().filter(|(_, (tried, valid))| 10 * valid < 9 * tried);
        bad.map(|(kind, (tried, valid))| (kind.as_str(), *tried, *valid))
    }

    /// Adds the statistics of another thread.
    pub fn add(&mut self, other: &InsertionStatistics) {
        for (kind, (tried, valid)) in &other.kinds {
            let entry = self.kinds.entry(kind.clone()).or_default();
            *entry = (entry.0 + tried, entry.1 + valid);
        }
    }
}

/// The number of applications of each rewrite: patterns and rules by name, folds by op; each with its root op.
#[derive(Clone, Default)]
pub struct RewriteCounts(Arc<Mutex<RewriteTally>>);

#[derive(Default)]
struct RewriteTally {
    by_name: IndexMap<String, u64>,
    /// The same for each root op of one context, by index into `by_name`; without one for ops that a pipeline makes.
    by_root: IndexMap<(Option<OpName>, usize), u64>,
    /// Number of pairs of rewrite and root that were rare when they applied, since the last question.
    rare: u64,
}

/// Number of applications up to which a pair of rewrite and root is rare; 1 for folds, of which there are many.
const RARE: u64 = 5;

impl RewriteCounts {
    fn lock(&self) -> std::sync::MutexGuard<'_, RewriteTally> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns an action observer that counts into this table.
    pub fn observer(&self) -> Box<dyn Observer> {
        Box::new(Counting {
            fired: self.clone(),
            names: IndexSet::new(),
            folds: FxHashMap::default(),
            open: Vec::new(),
        })
    }

    /// Whether a rare pair of rewrite and root applied since the last call.
    pub(crate) fn take_rare(&self) -> bool {
        std::mem::take(&mut self.lock().rare) > 0
    }

    /// Returns the number of applications of each rewrite to each root op.
    pub(crate) fn by_root(&self) -> IndexMap<(String, Option<OpName>), u64> {
        let counts = self.lock();
        let name = |index| counts.by_name.get_index(index).map_or_else(String::new, |(name, _)| name.clone());
        counts.by_root.iter().map(|(&(root, index), &n)| ((name(index), root), n)).collect()
    }

    /// Returns the number of rewrites of each root op.
    pub(crate) fn roots(&self) -> IndexMap<OpName, u64> {
        let mut roots = IndexMap::new();
        for (&(root, _), n) in &self.lock().by_root {
            root.into_iter().for_each(|root| *roots.entry(root).or_default() += n);
        }
        roots
    }

    /// Whether a rewrite of this name applied.
    pub(crate) fn applied(&self, name: &str) -> bool {
        self.lock().by_name.contains_key(name)
    }

    /// Returns the rewrites that applied, the most frequent first.
    pub fn list(&self) -> Vec<(String, u64)> {
        let mut list: Vec<(String, u64)> = self.lock().by_name.iter().map(|(name, n)| (name.clone(), *n)).collect();
        list.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        list
    }

    /// Returns the number of declared patterns, rules and folders that applied at least `times`, the number of all, and
    /// the names of the rest.
    pub fn coverage(&self, ctx: &Context, times: u64) -> (usize, usize, Vec<String>) {
        let all: BTreeSet<String> = canonicalizations(ctx).into_iter().collect();
        let counts = &self.lock().by_name;
        let rare = |name: &&String| counts.get(*name).is_none_or(|&n| n < times);
        let rare: Vec<String> = all.iter().filter(rare).cloned().collect();
        (all.len() - rare.len(), all.len(), rare)
    }

    /// Returns those of some rewrites that never applied.
    pub fn never(&self, rewrites: &BTreeSet<String>) -> Vec<String> {
        let counts = &self.lock().by_name;
        rewrites.iter().filter(|name| !counts.contains_key(*name)).cloned().collect()
    }

    /// Adds the counts of another thread.
    pub fn add(&self, other: &RewriteCounts) {
        let others = other.lock();
        let mut counts = self.lock();
        for (name, times) in &others.by_name {
            *counts.by_name.entry(name.clone()).or_default() += times;
        }
    }

    /// Counts an application of a rewrite.
    pub(crate) fn count(&self, name: &str, root: Option<OpName>) {
        let counts = &mut *self.lock();
        let index = match counts.by_name.get_index_of(name) {
            Some(index) => index,
            None => counts.by_name.insert_full(name.to_owned(), 0).0,
        };
        counts.by_name[index] += 1;
        let times = counts.by_root.entry((root, index)).or_default();
        *times += 1;
        let rare = if name.starts_with("fold ") { 1 } else { RARE };
        counts.rare += u64::from(root.is_some() && *times <= rare);
    }
}

/// An observer of actions that change the program.
struct Counting {
    fired: RewriteCounts,
    /// The names of rewrites, and the index of the name of each op's fold.
    names: IndexSet<String>,
    folds: FxHashMap<OpName, usize>,
    /// Running actions with the indices of their names, and their root ops.
    open: Vec<(&'static str, usize, Option<OpName>)>,
}

impl Observer for Counting {
    fn before(&mut self, action: &Action<'_>, runs: bool) {
        if !runs || !action.is_rewrite() {
            return;
        }
        let m = action.module;
        let name = match (action.tag, action.unit) {
            ("apply-fold", ActionUnit::Op(op)) => {
                let known = self.folds.entry(m.name(op));
                *known.or_insert_with(|| self.names.insert_full(format!("fold {}", m.name_text(op))).0)
            }
            (PATTERN, _) => number(&mut self.names, action.name),
            (tag, _) => number(&mut self.names, tag),
        };
        let root = match action.unit {
            ActionUnit::Op(op) => Some(op),
            ActionUnit::Region(region) => m.region_op(region),
        };
        self.open.push((action.tag, name, root.map(|op| m.name(op))));
    }

    fn after(&mut self, tag: &'static str, changed: bool) {
        if self.open.last().is_some_and(|(open, ..)| *open == tag)
            && let Some((_, name, root)) = self.open.pop()
            && (changed || tag != PATTERN)
        {
            self.fired.count(&self.names[name], root);
        }
    }
}

/// Returns the index of a name, which is added if it is new.
fn number(names: &mut IndexSet<String>, name: &str) -> usize {
    names.get_index_of(name).unwrap_or_else(|| names.insert_full(name.to_owned()).0)
}
