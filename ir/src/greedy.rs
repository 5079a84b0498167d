//! The pattern driver: folds, patterns and simplification of control flow, round after round.

use crate::module::{Module, Op};
use crate::pass::{Actions, ITERATION, Unit};
use crate::rewrite::{Pattern, Rewriter};
use crate::rules::RuleSet;
pub use crate::simplify_regions::RegionSimplification;
use crate::simplify_regions::{erase_unreachable_blocks, simplify_regions};
use std::sync::Arc;

/// What the driver does, and for how long.
#[derive(Clone, Debug)]
pub struct GreedyOptions {
    /// The most rounds. After a round in which control flow was simplified, or a block became empty, there is another one.
    pub max_iterations: Option<u64>,
    /// The most patterns that are applied in a round.
    pub max_rewrites: Option<u64>,
    /// Whether a round begins with the first op, or with the last.
    pub top_down: bool,
    /// What is done to control flow.
    pub regions: RegionSimplification,
    /// The patterns that are tried on every op, for a pass with patterns of its own; `None` for those that the ops declare
    /// and the rules of dialects.
    pub patterns: Option<&'static [Pattern]>,
    /// The rules that are tried on every op, instead of those of dialects; `None` for a pass that has none of its own.
    pub rules: Option<Arc<RuleSet>>,
    /// The only patterns that are applied; empty for all.
    pub enabled: Vec<String>,
    /// Patterns that are not applied.
    pub disabled: Vec<String>,
}

impl Default for GreedyOptions {
    fn default() -> Self {
        GreedyOptions {
            max_iterations: Some(10),
            max_rewrites: None,
            top_down: true,
            regions: RegionSimplification::default(),
            patterns: None,
            rules: None,
            enabled: Vec::new(),
            disabled: Vec::new(),
        }
    }
}

/// What the driver did.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Rewritten {
    /// How many changes.
    pub changes: u64,
    /// Whether nothing is left to do.
    pub converged: bool,
}

impl GreedyOptions {
    /// Works on everything under `root`, which itself stays as it is.
    pub fn run(&self, m: &mut Module, root: Op, mut actions: Option<&mut Actions>) -> Rewritten {
        let named = |list: &[String], name: &str| list.iter().any(|n| n == name);
        let tried =
            |name: &str| (self.enabled.is_empty() || named(&self.enabled, name)) && !named(&self.disabled, name);
        let all = self.enabled.is_empty() && self.disabled.is_empty();
        let filter: Option<&dyn Fn(&str) -> bool> = if all { None } else { Some(&tried) };
        let mut done = Rewritten { changes: 0, converged: true };
        for round in 1.. {
            if self.max_iterations.is_some_and(|max| round > max) {
                return done;
            }
            done.converged = false;
            done.changes += erase_unreachable_blocks(m, root);
            if let Some(actions) = &mut actions
                && !actions.begin(ITERATION, &round.to_string(), unit(m, root), m)
            {
                return done;
            }
            let mut rewriter = Rewriter::new(m, actions.as_deref_mut(), filter);
            rewriter.patterns = self.patterns;
            rewriter.rules = self.rules.clone();
            let (changes, ended) = rewriter.round(root, self.top_down, self.max_rewrites);
            let emptied = rewriter.emptied;
            if let Some(actions) = &mut actions {
                actions.end(ITERATION, true);
            }
            let simplified = simplify_regions(m, root, self.regions, actions.as_deref_mut());
            done.changes += changes + simplified;
            if ended && simplified == 0 && !emptied {
                return Rewritten { converged: true, ..done };
            }
            if !ended && self.max_rewrites.is_none() {
                // The rules undo each other.
                return done;
            }
        }
        done
    }
}

fn unit(m: &Module, root: Op) -> Unit {
    m.regions(root).first().map_or(Unit::Op(root), |&region| Unit::Region(region))
}

/// Folds and applies canonicalization patterns to everything under `root` until nothing changes. Returns the number of
/// changes. `root` itself stays as it is.
pub fn rewrite_greedily(m: &mut Module, root: Op) -> u64 {
    let options = GreedyOptions { regions: RegionSimplification::Disabled, ..GreedyOptions::default() };
    options.run(m, root, None).changes
}
