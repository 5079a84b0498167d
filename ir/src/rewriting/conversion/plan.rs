//! The legality rule and the applicable patterns per op name, computed once per name.

use super::pattern::{ConversionPattern, Root};

use super::target::ConversionTarget;
use crate::context::Context;
use crate::entity::SideTable;
use crate::intern::OpName;
use rustc_hash::FxHashMap;

/// The legalization plan of one op name.
pub(super) struct NamePlan {
    /// Index of the target's rule.
    pub(super) rule: Option<u32>,
    /// Whether the rule may make ops recursively legal, with everything in their regions.
    pub(super) recursive: bool,
    /// Indices of the patterns, in the order in which they are tried.
    pub(super) patterns: Vec<u32>,
    /// Patterns that are skipped because they generate an op that cannot become legal, with the name of that op.
    pub(super) skipped: Vec<(u32, &'static str)>,
}

/// The target and the patterns, indexed by op name.
pub(super) struct ConversionPlan<'a> {
    pub(super) target: &'a ConversionTarget<'a>,
    pub(super) patterns: &'a [ConversionPattern<'a>],
    /// Index of each name's plan in `plans`, plus one.
    index: SideTable<OpName, u32>,
    plans: Vec<NamePlan>,
    /// Legalization depth of each op mentioned by patterns: the number of pattern applications down to legal ops.
    depths: FxHashMap<OpName, u32>,
}

impl<'a> ConversionPlan<'a> {
    pub(super) fn new(
        ctx: &Context,
        target: &'a ConversionTarget<'a>,
        patterns: &'a [ConversionPattern<'a>],
    ) -> ConversionPlan<'a> {
        let depths = FxHashMap::default();
        let mut plan = ConversionPlan { target, patterns, index: SideTable::new(0), plans: Vec::new(), depths };
        // Each round adds the ops that are one pattern application farther from legal ops.
        for _ in 0..=patterns.len() {
            if !plan.find_depths(ctx) {
                break;
            }
        }
        plan
    }

    fn find_depths(&mut self, ctx: &Context) -> bool {
        let mut changed = false;
        for pattern in self.patterns {
            let Root::Op(root) = pattern.root else { continue };
            let Ok(depth) = self.depth(ctx, pattern) else { continue };
            let known = self.depths.entry(ctx.op_name(root)).or_insert(u32::MAX);
            changed |= depth + 1 < *known;
            *known = (depth + 1).min(*known);
        }
        changed
    }

    /// Returns the maximum legalization depth of the ops that `pattern` generates, or an op that never becomes legal.
    fn depth(&self, ctx: &Context, pattern: &ConversionPattern<'_>) -> Result<u32, &'static str> {
        // A pattern that matches ops of many names may match any generated op.
        let any = self.patterns.iter().any(|p| !matches!(p.root, Root::Op(_)));
        let mut depth = 0;
        for &made in pattern.generated {
            let name = ctx.op_name(made);
            if self.target.may_allow(self.target.rule_for(ctx, name)).0 {
                continue;
            }
            let known = self.depths.get(&name).copied().or(any.then_some(1));
            depth = depth.max(known.ok_or(made)?);
        }
        Ok(depth)
    }

    /// Returns the index of the plan for a name; computes it on first use.
    pub(super) fn of(&mut self, ctx: &Context, name: OpName) -> usize {
        if self.index[name] == 0 {
            let plan = self.make(ctx, name);
            self.plans.push(plan);
            self.index[name] = self.plans.len() as u32;
        }
        self.index[name] as usize - 1
    }

    pub(super) fn get(&self, plan: usize) -> &NamePlan {
        &self.plans[plan]
    }

    fn make(&self, ctx: &Context, name: OpName) -> NamePlan {
        let (text, traits) = (ctx.op_name_text(name), ctx.op_info(name).map(|info| info.traits));
        let (mut tried, mut skipped) = (Vec::new(), Vec::new());
        for (i, pattern) in self.patterns.iter().enumerate() {
            let fits = match pattern.root {
                Root::Op(root) => root == text,
                Root::Traits(wanted) => traits.is_some_and(|t| t.has(wanted)),
                Root::Any => true,
            };
            match self.depth(ctx, pattern) {
                _ if !fits => {}
                Ok(depth) => tried.push((depth, std::cmp::Reverse(pattern.benefit), i as u32)),
                Err(made) => skipped.push((i as u32, made)),
            }
        }
        tried.sort_unstable();
        let rule = self.target.rule_for(ctx, name);
        let patterns = tried.into_iter().map(|(_, _, i)| i).collect();
        NamePlan { rule, recursive: self.target.may_allow(rule).1, patterns, skipped }
    }
}
