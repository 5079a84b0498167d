//! The greedy pattern driver: folding, patterns and control-flow simplification, in rounds.

use crate::context::Context;
use crate::module::{Module, Op};
use crate::pass::{ActionUnit, Actions, ITERATION};
use crate::rewriting::rewrite::{Pattern, Rewriter};
use crate::rewriting::rules::RuleSet;
pub use crate::rewriting::simplify_regions::RegionSimplification;
use crate::rewriting::simplify_regions::{erase_unreachable_blocks, simplify_regions};
use std::sync::Arc;

/// The options of the greedy driver.
#[derive(Clone, Debug)]
pub struct GreedyOptions {
    /// Maximum number of rounds. A round that simplified control flow or emptied a block is followed by another.
    pub max_iterations: Option<u64>,
    /// Maximum number of applied patterns per round.
    pub max_rewrites: Option<u64>,
    /// Whether a round starts with the first op rather than the last.
    pub top_down: bool,
    /// The degree of control-flow simplification.
    pub regions: RegionSimplification,
    /// The patterns to apply, for passes with their own; `None` for those declared by ops, with the dialects' rules.
    pub patterns: Option<&'static [Pattern]>,
    /// The rules to apply instead of the dialects'; `None` for passes without their own.
    pub rules: Option<Arc<RuleSet>>,
    /// The names of the enabled patterns; empty for all.
    pub enabled: Vec<String>,
    /// The names of disabled patterns.
    pub disabled: Vec<String>,
}

/// Returns the names of all canonicalization rewrites: patterns, rules, and `fold OP` for each op with a folder.
pub fn canonicalizations(ctx: &Context) -> Vec<String> {
    let infos = || ctx.dialects().iter().flat_map(|d| d.ops);
    let patterns = infos().flat_map(|info| info.patterns).map(|pattern| pattern.name.to_owned());
    let folds = infos().filter(|info| info.fold.is_some()).map(|info| format!("fold {}", info.name));
    patterns.chain(folds).chain(ctx.rule_names().map(str::to_owned)).collect()
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

/// The outcome of a run of the driver.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Rewritten {
    /// Number of changes.
    pub changes: u64,
    /// Whether a fixed point was reached.
    pub converged: bool,
}

impl GreedyOptions {
    /// Rewrites everything under `root`; `root` itself stays.
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
            let is_stuck = changes == 0 && simplified == 0 && !emptied;
            if !ended && (is_stuck || self.max_rewrites.is_none()) {
                // A limit of 0 allows no change, or the patterns undo each other's changes.
                return done;
            }
        }
        done
    }
}

fn unit(m: &Module, root: Op) -> ActionUnit {
    m.regions(root).first().map_or(ActionUnit::Op(root), |&region| ActionUnit::Region(region))
}

/// Folds and canonicalizes everything under `root` to a fixed point. Returns the number of changes. `root` itself
/// stays.
pub fn rewrite_greedily(m: &mut Module, root: Op) -> u64 {
    let options = GreedyOptions { regions: RegionSimplification::Disabled, ..GreedyOptions::default() };
    options.run(m, root, None).changes
}
