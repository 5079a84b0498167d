//! Coverage statistics of a campaign.

use gradus_ir::Context;
use gradus_ir::pass::{Action, Observer, PATTERN, Unit};
use indexmap::IndexMap;
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

/// Statistics of op insertion.
#[derive(Clone, Default, Debug)]
pub struct Statistics {
    /// For each kind of op, the number of insertions and of those that were valid at the first attempt.
    kinds: IndexMap<String, (u64, u64)>,
}

impl Statistics {
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
    pub fn add(&mut self, other: &Statistics) {
        for (kind, (tried, valid)) in &other.kinds {
            let entry = self.kinds.entry(kind.clone()).or_default();
            *entry = (entry.0 + tried, entry.1 + valid);
        }
    }
}

/// The number of applications of each rewrite: patterns and rules by name, folds by op.
#[derive(Clone, Default)]
pub struct RewriteCounts(Arc<Mutex<IndexMap<String, u64>>>);

impl RewriteCounts {
    /// Returns an action observer that counts into this table.
    pub fn observer(&self) -> Box<dyn Observer> {
        Box::new(Counting { fired: self.clone(), open: Vec::new() })
    }

    /// Returns the number of declared patterns, rules and folders that applied at least `times`, the number of all, and
    /// the names of the rest.
    pub fn coverage(&self, ctx: &Context, times: u64) -> (usize, usize, Vec<String>) {
        let all = rewrites(ctx);
        let counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let rare = |name: &&String| counts.get(*name).is_none_or(|&n| n < times);
        let rare: Vec<String> = all.iter().filter(rare).cloned().collect();
        (all.len() - rare.len(), all.len(), rare)
    }

    /// Adds the counts of another thread.
    pub fn add(&self, other: &RewriteCounts) {
        let others = other.0.lock().unwrap_or_else(PoisonError::into_inner);
        others.iter().for_each(|(name, times)| self.count(name, *times));
    }

    fn count(&self, name: &str, times: u64) {
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match counts.get_mut(name) {
            Some(n) => *n += times,
            None => drop(counts.insert(name.to_owned(), times)),
        }
    }
}

/// Returns the names of all canonicalization rewrites: patterns, rules, and `fold OP` for each op with a folder.
pub fn rewrites(ctx: &Context) -> BTreeSet<String> {
    let infos = || ctx.dialects().iter().flat_map(|d| d.ops);
    let patterns = infos().flat_map(|info| info.patterns).map(|p| p.name.to_owned());
    let folds = infos().filter(|info| info.fold.is_some()).map(|info| format!("fold {}", info.name));
    patterns.chain(folds).chain(ctx.rule_names().map(str::to_owned)).collect()
}

/// An observer of actions that change the program.
struct Counting {
    fired: RewriteCounts,
    /// Running actions with their names.
    open: Vec<(&'static str, String)>,
}

impl Observer for Counting {
    fn before(&mut self, action: &Action<'_>, runs: bool) {
        if !runs || !action.is_rewrite() {
            return;
        }
        let name = match (action.tag, action.unit) {
            ("apply-fold", Unit::Op(op)) => format!("fold {}", action.module.name_text(op)),
            _ => action.name.to_owned(),
        };
        self.open.push((action.tag, name));
    }

    fn after(&mut self, tag: &'static str, changed: bool) {
        if self.open.last().is_some_and(|(open, _)| *open == tag)
            && let Some((_, name)) = self.open.pop()
            && (changed || tag != PATTERN)
        {
            self.fired.count(&name, 1);
        }
    }
}
