//! The rule checker: builds instances of a rule's left side with types and attributes that the declarations allow,
//! applies the rule, and executes both programs on the same inputs.

mod draw;
mod signatures;
pub(crate) mod types;

use draw::Instance;
use gradus_check::{Floats, Options, Reference, Verdict};
use gradus_ir::random::Random;
use gradus_ir::rules::{CompiledRule, apply_at, matches_at};
use gradus_ir::{Context, Diagnostic, Module, verify};
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
    /// All instances were inconclusive; the reason for one of them.
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
    /// Number of instances on which the rule was applied and checked.
    pub instances: u64,
    /// Number of instances on which a condition is false.
    pub refused: u64,
    /// Number of instances whose right side cannot be built or has another type.
    pub unmade: u64,
    /// Number of inconclusive instances.
    pub open: u64,
    /// Number of inputs on which both sides ran.
    pub inputs: u64,
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
        let mut fitting = Vec::new();
        for tried in 0..TRIES * self.how.instances {
            if report.instances >= self.how.instances || report.open >= 4 * self.how.instances {
                break;
            }
            let again = if tried > SELDOM * (report.instances + 1) { &fitting[..] } else { &[] };
            let drawn = draw::instance(&self.ctx, rule, &mut self.signatures, again, tried < PLAIN, &mut random);
            let Some(instance) = drawn else { continue };
            if let Some(after) = self.applied(rule, &instance) {
                fitting.extend(instance.signatures);
                if let Some(wrong) = self.compare(rule, instance.module, after, &mut report) {
                    report.soundness = Soundness::Wrong(Box::new(wrong));
                    return report;
                }
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
            report.soundness = Soundness::Sound;
        }
        report
    }

    /// Returns the instance with the rule applied at its root.
    fn applied(&self, rule: &CompiledRule, instance: &Instance) -> Option<Module> {
        let mut after = instance.module.clone();
        apply_at(&mut after, rule, instance.root).then_some(after)
    }

    /// Records which conditions alone refuse the instance, and whether they are necessary.
    fn ask(&self, rule: &CompiledRule, instance: &Instance, conditions: &mut [Condition]) {
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
            known.needed |= self.compare(rule, instance.module.clone(), after, &mut unused).is_some();
        }
    }

    /// Executes an instance before and after and records the result.
    fn compare(
        &self,
        rule: &CompiledRule,
        before: Module,
        after: Module,
        report: &mut RuleReport,
    ) -> Option<Counterexample> {
        let name = self.ctx.text(rule.name);
        if let Err(errors) = verify(&after) {
            let error = errors.into_iter().next().expect("there is one");
            return Some(Counterexample { before, after, error });
        }
        let exhaustive = if report.instances == 0 { EXHAUSTIVE } else { self.how.options.exhaustive };
        let floats = if rule.approx { Floats::Approximate } else { Floats::Bits };
        let reference = Reference::new(&before, Options { exhaustive, floats, ..self.how.options });
        let (_, _, verdict) = reference.compare(&after).next()?;
        let error = match verdict {
            Verdict::Same { inputs, .. } => {
                report.instances += 1;
                report.inputs += inputs;
                return None;
            }
            Verdict::Different(difference) => {
                let function = draw::FUNCTION;
                let difference = reference.smaller(function, &after, *difference);
                reference.error(function, &after, &difference, &format!("after rule '{name}'"))
            }
            Verdict::Unchanged => return None,
            Verdict::Inconclusive(why) | Verdict::Lost(why) => {
                report.open += 1;
                if report.instances == 0 {
                    report.soundness = Soundness::Unknown(why);
                }
                return None;
            }
        };
        drop(reference);
        Some(Counterexample { before, after, error })
    }
}

impl RuleReport {
    fn empty() -> RuleReport {
        RuleReport {
            soundness: Soundness::Vacuous,
            instances: 0,
            refused: 0,
            unmade: 0,
            open: 0,
            inputs: 0,
            never_false: Vec::new(),
            needless: Vec::new(),
        }
    }

    /// Whether no counterexample was found.
    pub fn is_sound(&self) -> bool {
        matches!(self.soundness, Soundness::Sound)
    }
}
