//! The rule checker: builds instances of a rule's left side with types and attributes that the declarations allow,
//! applies the rule, and executes both programs on the same inputs.

mod draw;
mod integers;
mod signatures;
pub(crate) mod types;

use draw::RuleInstance;
use gradus_check::{Floats, Options, Reference, Verdict};
use gradus_ir::random::Random;
use gradus_ir::rules::{CompiledRule, apply_at, matches_at};
use gradus_ir::{Context, Diagnostic, Module, PrintOptions, verify};
use rustc_hash::FxHashMap;
use signatures::Signatures;
use std::sync::Arc;

/// Number of attempts per requested instance.
const TRIES: u64 = 100;
/// Number of instances, refused by a single condition, that are checked without it.
const WITHOUT: u64 = 60;
/// Number of first instances on scalars, whose counterexamples are easier to read.
const PLAIN: u64 = 20;
/// Number of attempts per applicable instance from which on a rule counts as seldom applicable.
const SELDOM: u64 = 20;
/// Number of instances below which the result is inconclusive.
const ENOUGH: u64 = 20;
/// Number of distinct inputs below which the result is inconclusive, unless there are no others.
const ENOUGH_INPUTS: u64 = 256;
/// Number of repeated instances per distinct one from which on there are no others.
const REPEATED: u64 = 20;
/// Number of repeated instances from which on the checker stops waiting for others.
const PATIENCE: u64 = 4_000;
/// Maximum number of inputs for which the first instance is checked exhaustively.
const EXHAUSTIVE: u64 = 1 << 16;

/// Options of the rule checker.
#[derive(Clone, Copy, Debug)]
pub struct RuleOptions {
    /// Number of instances to which the rule has to apply.
    pub instances: u64,
    /// Options of each check. Floats are compared bit by bit unless the rule is approximate.
    pub options: Options,
}

impl Default for RuleOptions {
    fn default() -> Self {
        RuleOptions { instances: 200, options: Options { inputs: 32, exhaustive: 1 << 8, ..Options::default() } }
    }
}

/// The verdict on a rule.
pub enum Soundness {
    /// No counterexample was found.
    Sound,
    /// The rule applied to no instance.
    Vacuous,
    /// All instances were inconclusive, or the rule was tried on too few inputs; the reason.
    Unknown(String),
    /// The rule is unsound.
    Wrong(Box<Counterexample>),
}

/// An instance on which a rule changes the meaning.
pub struct Counterexample {
    /// The program before.
    pub before: Module,
    /// The program after.
    pub after: Module,
    /// A diagnostic with the input and both outcomes.
    pub error: Diagnostic,
}

/// The result of checking a rule.
pub struct RuleReport {
    /// The verdict.
    pub soundness: Soundness,
    /// Number of distinct instances on which the rule was applied and checked.
    pub instances: u64,
    /// Number of instances that were drawn before.
    pub repeated: u64,
    /// Number of instances on which a condition is false.
    pub refused: u64,
    /// Number of instances whose right side cannot be built or has another type.
    pub unmade: u64,
    /// Number of inconclusive instances.
    pub open: u64,
    /// Number of inputs on which both sides ran.
    pub inputs: u64,
    /// Whether all inputs of each instance ran, and no constant has more values than are drawn.
    pub is_exhaustive: bool,
    /// Conditions that were never the only false one.
    pub never_false: Vec<&'static str>,
    /// Conditions without which no counterexample was found either.
    pub needless: Vec<&'static str>,
}

/// A checker for the rules of one context.
pub struct RuleChecker {
    ctx: Arc<Context>,
    signatures: Signatures,
    how: RuleOptions,
}

/// The observations about a condition.
#[derive(Clone, Copy, Default)]
struct Condition {
    /// Number of instances that it alone refuses.
    decisive: u64,
    /// Whether one of these instances is a counterexample without it.
    needed: bool,
}

impl RuleChecker {
    /// Creates a checker.
    pub fn new(ctx: &Arc<Context>, how: RuleOptions) -> RuleChecker {
        RuleChecker { ctx: ctx.clone(), signatures: Signatures::new(ctx), how }
    }

    /// Checks a rule; deterministic for a given seed.
    pub fn check(&mut self, rule: &CompiledRule) -> RuleReport {
        let mut report = RuleReport::empty();
        self.signatures.know(rule.fixed.iter().map(|(_, ty)| *ty));
        let mut conditions = vec![Condition::default(); rule.conditions.len()];
        let mut random = Random::of((self.how.options.seed, self.ctx.text(rule.name)));
        let (mut fitting, mut seen) = (Vec::new(), FxHashMap::default());
        for tried in 0.. {
            if report.is_done(tried, self.how.instances) {
                break;
            }
            let again = if tried > SELDOM * (report.instances + 1) { &fitting[..] } else { &[] };
            let drawn = draw::instance(&self.ctx, rule, &mut self.signatures, again, tried < PLAIN, &mut random);
            let Some(instance) = drawn else { continue };
            if let Some(after) = self.applied(rule, &instance) {
                let text = instance.module.to_text(PrintOptions::default());
                let known = seen.get(&text).copied();
                report.repeated += u64::from(known.is_some());
                // A repeated instance runs on other inputs, if there are any and they are needed.
                if known.is_some_and(|all_ran| all_ran || report.inputs >= ENOUGH_INPUTS) {
                    continue;
                }
                report.is_exhaustive &= !instance.is_open;
                fitting.extend(instance.signatures);
                match self.compare(rule, instance.module, after, &mut report) {
                    Ok(all_ran) => seen.insert(text, all_ran),
                    Err(wrong) => {
                        report.soundness = Soundness::Wrong(wrong);
                        return report;
                    }
                };
                report.instances = (seen.len() as u64).saturating_sub(report.open);
                continue;
            }
            match matches_at(&instance.module, rule, instance.root) {
                true => report.unmade += 1,
                false => report.refused += 1,
            }
            self.ask(rule, &instance, &mut conditions);
        }
        let names = |which: &dyn Fn(&Condition) -> bool| {
            let all = rule.conditions.iter().zip(&conditions);
            all.filter(|(_, known)| which(known)).map(|(call, _)| call.function.name).collect()
        };
        report.never_false = names(&|known| known.decisive == 0);
        report.needless = names(&|known| known.decisive >= ENOUGH && !known.needed);
        if report.instances > 0 {
            report.soundness = report.conclusion();
        }
        report
    }

    /// Returns the instance with the rule applied at its root.
    fn applied(&self, rule: &CompiledRule, instance: &RuleInstance) -> Option<Module> {
        let mut after = instance.module.clone();
        apply_at(&mut after, rule, instance.root).then_some(after)
    }

    /// Records which conditions alone refuse the instance, and whether they are necessary.
    fn ask(&self, rule: &CompiledRule, instance: &RuleInstance, conditions: &mut [Condition]) {
        for (i, known) in conditions.iter_mut().enumerate() {
            if known.decisive >= WITHOUT || known.needed && known.decisive > 0 {
                continue;
            }
            let without = rule.without_condition(i);
            if !matches_at(&instance.module, &without, instance.root) {
                continue;
            }
            known.decisive += 1;
            let Some(after) = self.applied(&without, instance) else {
                // Without the condition the right side cannot be built.
                known.needed = true;
                continue;
            };
            let mut unused = RuleReport { instances: 1, ..RuleReport::empty() };
            known.needed |= self.compare(rule, instance.module.clone(), after, &mut unused).is_err();
        }
    }

    /// Executes an instance before and after and records the result. Returns whether all inputs ran, or a
    /// counterexample.
    fn compare(
        &self,
        rule: &CompiledRule,
        before: Module,
        after: Module,
        report: &mut RuleReport,
    ) -> Result<bool, Box<Counterexample>> {
        let name = self.ctx.text(rule.name);
        if let Err(errors) = verify(&after) {
            let error = errors.into_iter().next().expect("there is one");
            return Err(Box::new(Counterexample { before, after, error }));
        }
        let exhaustive = if report.instances == 0 { EXHAUSTIVE } else { self.how.options.exhaustive };
        let floats = if rule.approx { Floats::Approximate } else { Floats::Bits };
        let seed = self.how.options.seed.wrapping_add(report.repeated);
        let reference = Reference::new(&before, Options { exhaustive, floats, seed, ..self.how.options });
        let Some((_, _, verdict)) = reference.compare(&after).next() else { return Ok(true) };
        let error = match verdict {
            Verdict::Same { inputs, exhaustive, .. } => {
                report.instances += 1;
                report.inputs += inputs;
                report.is_exhaustive &= exhaustive;
                return Ok(exhaustive);
            }
            Verdict::Different(difference) => {
                let function = draw::FUNCTION;
                let difference = reference.smaller(function, &after, *difference);
                reference.error(function, &difference, &format!("after rule '{name}'"))
            }
            Verdict::Unchanged => return Ok(true),
            Verdict::Inconclusive(why) | Verdict::Lost(why) => {
                report.open += 1;
                if report.instances == 0 {
                    report.soundness = Soundness::Unknown(why);
                }
                return Ok(true);
            }
        };
        drop(reference);
        Err(Box::new(Counterexample { before, after, error }))
    }
}

impl RuleReport {
    fn empty() -> RuleReport {
        RuleReport {
            soundness: Soundness::Vacuous,
            instances: 0,
            repeated: 0,
            refused: 0,
            unmade: 0,
            open: 0,
            inputs: 0,
            is_exhaustive: true,
            never_false: Vec::new(),
            needless: Vec::new(),
        }
    }

    /// Whether there are enough instances and inputs, or more attempts are futile.
    fn is_done(&self, tried: u64, instances: u64) -> bool {
        let scarce = if self.instances > 0 && self.inputs < ENOUGH_INPUTS { 4 } else { 1 };
        self.instances >= scarce * instances
            || self.open >= 4 * instances
            || self.repeated >= PATIENCE
            || tried >= scarce * TRIES * instances
    }

    /// Returns the verdict without a counterexample: inconclusive if there were too few distinct inputs, unless those are
    /// all that the rule has.
    fn conclusion(&self) -> Soundness {
        let RuleReport { instances, inputs, repeated, is_exhaustive, .. } = self;
        if *inputs >= ENOUGH_INPUTS || *is_exhaustive && *repeated >= REPEATED * instances {
            return Soundness::Sound;
        }
        Soundness::Unknown(format!(
            "tried on {inputs} inputs of {instances} distinct instances, and there may be others; {ENOUGH_INPUTS} are enough"
        ))
    }

    /// Whether no counterexample was found.
    pub fn is_sound(&self) -> bool {
        matches!(self.soundness, Soundness::Sound)
    }
}
