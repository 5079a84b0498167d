//! The focus of a campaign: what the passes under test rewrite.
//!
//! It is found by trial rather than declared: programs of each family, unchanged, after each other pass, and after the stages of
//! targets that lead to the pipeline, run through the pipeline, and the numbered rewrites are counted with their root ops. Starts
//! that reach new rewrites, root ops, and rules that apply are drawn more often.

use crate::coverage::RewriteCounts;
use crate::programs::{FAMILIES, Family};
use gradus_ir::pass::{Actions, PassInfo, Pipeline, RunOptions, Watch};
use gradus_ir::random::Random;
use gradus_ir::{Context, Module, OpName, parse_module, verify};
use indexmap::IndexMap;
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;

/// Number of programs per family; per family and preceding pipeline; and per pair of these that makes ops which the family does not have,
/// such as a lowering.
const SAMPLES: u64 = 6;
const PREPARED: u64 = 3;
const LOWERED: u64 = 16;
/// Number of grown programs.
const GROWN: u64 = 150;
/// Maximum number of ops of a start.
const MAX_OPS: usize = 400;
/// Weight of a rewrite.
const WEIGHT: u64 = 100_000;
/// The start of the name that counts an op that the pipeline makes.
const MADE: &str = "made ";
/// Maximum weight of a root op.
const MAX_WEIGHT: u64 = 8;

/// A kind of program to start from.
#[derive(Clone)]
pub(crate) struct Start {
    family: &'static Family,
    /// The pipeline that runs before, which is not under test: a lowering makes the programs that later passes read.
    before: Option<Arc<str>>,
    weight: u64,
}

/// The number of applications of each rewrite to each root op.
type Reached = IndexMap<(String, Option<OpName>), u64>;

/// The weights of starts, ops and rules.
pub(crate) struct Focus {
    starts: Vec<Start>,
    /// The passes of preceding pipelines.
    passes: Vec<&'static PassInfo>,
    /// Root ops of rewrites, repeated by weight.
    ops: Vec<OpName>,
    /// Whether rules apply.
    has_rules: bool,
    /// Programs that reached rare rewrites.
    kept: Vec<Module>,
}

/// Maximum number of kept programs, and of ops of one.
const MAX_KEPT: usize = 192;
const MAX_KEPT_OPS: usize = 150;

impl Focus {
    /// Returns the focus without passes under test.
    pub(crate) fn none() -> Focus {
        let starts = FAMILIES.iter().map(|family| Start { family, before: None, weight: 1 });
        let (passes, ops, kept) = (Vec::new(), Vec::new(), Vec::new());
        Focus { starts: starts.collect(), passes, ops, has_rules: true, kept }
    }

    /// Finds the focus of a pipeline of some passes. `stages` are pipelines that lead to it, `under_test` creates it with drawn options,
    /// `rules` are those that may be planted, `grown` grows a program.
    pub(crate) fn of(
        ctx: &Arc<Context>,
        (passes, stages): (&[&'static PassInfo], &[String]),
        under_test: &mut dyn FnMut() -> Option<Pipeline>,
        rules: &[&'static str],
        grown: &mut dyn FnMut(u64) -> Module,
    ) -> Focus {
        let all = RewriteCounts::default();
        let mut starts: Vec<(Start, Reached)> = Vec::new();
        for before in [None].into_iter().chain(preceding(passes, stages).into_iter().map(Some)) {
            for family in FAMILIES {
                let (known, start) = (all.by_root(), Start { family, before: before.clone(), weight: 0 });
                let mut samples = if before.is_some() { PREPARED } else { SAMPLES };
                let mut n = 0;
                while n < samples {
                    // Other programs for each preceding pipeline: most passes do not change those of a family.
                    let seed = (family.name, before.as_deref(), n);
                    n += 1;
                    let Some(m) = start.of_family(ctx, &mut Random::of(seed)) else { continue };
                    let of_family = names(&m);
                    let Some(m) = start.prepared(passes, m) else { continue };
                    if names(&m).keys().any(|name| !of_family.contains_key(name)) {
                        samples = LOWERED;
                    }
                    observe(m, under_test(), &all);
                }
                let mut reached = all.by_root();
                reached.iter_mut().for_each(|(of, n)| *n -= known.get(of).unwrap_or(&0));
                starts.push((start, reached));
            }
        }
        // The pipeline of a target is tested by the ops that it makes, more than by the folds on the way.
        let made = if passes.is_empty() { 10 * WEIGHT } else { 0 };
        let starts = weighted(starts, &all.by_root(), made);
        for n in 0..GROWN {
            observe(grown(n), under_test(), &all);
        }
        let mut ops = Vec::new();
        for (op, times) in all.roots() {
            ops.extend(std::iter::repeat_n(op, (1 + u64::from(times.ilog2())).min(MAX_WEIGHT) as usize));
        }
        // If some rules apply, others may too.
        let has_rules = rules.iter().any(|rule| all.applied(rule));
        Focus { starts, passes: passes.to_vec(), ops, has_rules, kept: Vec::new() }
    }

    /// Draws a program to start from: a kept one, or one of a family.
    pub(crate) fn start(&self, ctx: &Arc<Context>, random: &mut Random) -> Option<Module> {
        if !self.kept.is_empty() && random.percent(30) {
            return Some(self.kept[random.below(self.kept.len() as u64) as usize].clone());
        }
        let total: u64 = self.starts.iter().map(|start| start.weight).sum();
        let mut at = random.below(total.max(1));
        let start = self.starts.iter().find(|start| {
            let found = at < start.weight;
            at = at.saturating_sub(start.weight);
            found
        });
        let start = start?;
        start.prepared(&self.passes, start.of_family(ctx, random)?)
    }

    /// Draws a root op.
    pub(crate) fn op(&self, random: &mut Random) -> Option<OpName> {
        (!self.ops.is_empty()).then(|| random.pick(&self.ops))
    }

    /// Whether left sides of rules are worth planting.
    pub(crate) fn has_rules(&self) -> bool {
        self.has_rules
    }

    /// Whether passes are under test.
    pub(crate) fn is_directed(&self) -> bool {
        !self.ops.is_empty()
    }

    /// Keeps a program to start from. The oldest is dropped if there are many.
    pub(crate) fn keep(&mut self, m: &Module) {
        if m.num_ops() > MAX_KEPT_OPS {
            return;
        }
        if self.kept.len() == MAX_KEPT {
            self.kept.remove(0);
        }
        self.kept.push(m.clone());
    }
}

impl Start {
    /// Draws a program of the family; `None` if it is invalid.
    fn of_family(&self, ctx: &Arc<Context>, random: &mut Random) -> Option<Module> {
        let text = (self.family.draw)(random);
        let m = parse_module(ctx, self.family.name, text, Default::default()).ok()?;
        verify(&m).ok()?;
        Some(m)
    }

    /// Runs the preceding pipeline; `None` if it refuses the program, or makes it too large.
    fn prepared(&self, passes: &[&'static PassInfo], mut m: Module) -> Option<Module> {
        if let Some(before) = &self.before {
            run(&mut Pipeline::parse(before, passes).ok()?, &mut m, &mut Watch::default())?;
        }
        (m.num_ops() <= MAX_OPS).then_some(m)
    }
}

/// Returns the pipelines that may precede the one under test: single passes, and stages.
fn preceding(passes: &[&'static PassInfo], stages: &[String]) -> Vec<Arc<str>> {
    let single = passes.iter().filter_map(|pass| {
        let mut pipeline = Pipeline::on("builtin.module");
        pipeline.add(pass, "").ok()?;
        Some(pipeline.to_string().into())
    });
    single.chain(stages.iter().map(|stage| stage.as_str().into())).collect()
}

/// Divides the weight of each rewrite equally among its root ops, and that of each root op among the starts that reach it, by the number of
/// applications: an op that few starts reach counts as much as one that many do. A rewrite that most families reach counts less: the erasure
/// of dead ops does not distinguish a pass. `made` is the weight of an op that the pipeline makes.
fn weighted(starts: Vec<(Start, Reached)>, all: &Reached, made: u64) -> Vec<Start> {
    let mut families: FxHashMap<&str, FxHashSet<&str>> = FxHashMap::default();
    for (start, reached) in &starts {
        for ((rewrite, _), _) in reached.iter().filter(|(_, n)| **n > 0) {
            families.entry(rewrite).or_default().insert(start.family.name);
        }
    }
    let mut roots: FxHashMap<&str, u64> = FxHashMap::default();
    all.keys().for_each(|(rewrite, _)| *roots.entry(rewrite).or_default() += 1);
    let of_root = |rewrite: &str| {
        let others = 1 + FAMILIES.len() - families.get(rewrite).map_or(0, FxHashSet::len);
        let of_rewrite = if rewrite.starts_with(MADE) { made } else { WEIGHT };
        of_rewrite * others as u64 / roots[rewrite]
    };
    let weight = |reached: &Reached| -> u64 { reached.iter().map(|(of, n)| of_root(&of.0) * n / all[of].max(1)).sum() };
    let weights: Vec<u64> = starts.iter().map(|(_, reached)| weight(reached)).collect();
    let weighted = starts.into_iter().zip(weights).map(|((start, _), weight)| Start { weight, ..start });
    weighted.filter(|start| start.weight > 0).collect()
}

/// Runs the pipeline and counts its rewrites. An op of which fewer are left was rewritten too, numbered or not; one that was not
/// there was made by a lowering.
fn observe(mut m: Module, pipeline: Option<Pipeline>, counts: &RewriteCounts) {
    let Some(mut pipeline) = pipeline else { return };
    let mut actions = Actions::new();
    actions.watch(counts.observer());
    let mut watch = Watch::default();
    watch.actions = Some(actions);
    let before = names(&m);
    if run(&mut pipeline, &mut m, &mut watch).is_some() {
        let after = names(&m);
        let mut made: Vec<&str> =
            after.keys().filter(|name| !before.contains_key(name)).map(|&name| m.ctx.op_name_text(name)).collect();
        made.sort_unstable();
        made.into_iter().for_each(|name| counts.count(&format!("{MADE}{name}"), None));
        let fewer = before.into_iter().filter(|(name, n)| after.get(name).is_none_or(|left| left < n));
        fewer.for_each(|(name, _)| counts.count("removed", Some(name)));
    }
}

/// Counts the ops of each name.
fn names(m: &Module) -> FxHashMap<OpName, usize> {
    let mut names = FxHashMap::default();
    m.ops_under(m.root()).into_iter().skip(1).for_each(|op| *names.entry(m.name(op)).or_default() += 1);
    names
}

/// Runs a pipeline that may refuse the program.
fn run(pipeline: &mut Pipeline, m: &mut Module, watch: &mut Watch<'_>) -> Option<()> {
    pipeline.run(m, &RunOptions { threads: 1, ..RunOptions::default() }, watch).ok()
}
