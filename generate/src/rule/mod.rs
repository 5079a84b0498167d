//! Checking rewrite rules, each by itself: its left side is built many times, with types and attributes that the declarations
//! of its ops allow, it is applied, and the program before and after is run on the same inputs.

mod draw;
mod signatures;

use draw::Instance;
use gradus_check::{Floats, Options, Random, Reference, Verdict};
use gradus_ir::rules::{Compiled, apply_at, matches_at};
use gradus_ir::{Context, Diagnostic, Module, verify};
use signatures::Signatures;
use std::sync::Arc;

/// So many instances are tried for each that is wanted.
const TRIES: u64 = 100;
/// So many instances on which only a condition is false are checked as if it were not there.
const WITHOUT: u64 = 60;
/// So many of the first instances are on scalars, of which counterexamples are easier to read.
const PLAIN: u64 = 20;
/// A rule applies seldom if it takes more instances to find one on which it does.
const SELDOM: u64 = 20;
/// So few of them show nothing.
const ENOUGH: u64 = 20;
/// The first instance is run on all inputs if there are no more.
const EXHAUSTIVE: u64 = 1 << 16;

/// How rules are checked.
#[derive(Clone, Copy, Debug)]
pub struct RuleOptions {
    /// So many instances are wanted on which a rule applies.
    pub instances: u64,
    /// How each is checked. Floats are compared bit by bit, unless the rule is approximate.
    pub options: Options,
}

impl Default for RuleOptions {
    fn default() -> Self {
        RuleOptions { instances: 200, options: Options { inputs: 32, exhaustive: 1 << 8, ..Options::default() } }
    }
}

/// What is found out about a rule.
pub enum Soundness {
    /// No instance differs.
    Sound,
    /// There is no instance on which it applies.
    Vacuous,
    /// There are instances, but nothing can be said of any of them; an example of why.
    Unknown(String),
    /// It is wrong: a program, and what shows it.
    Wrong(Box<Counterexample>),
}

/// An instance of a rule's left side on which it is wrong.
pub struct Counterexample {
    /// The program before.
    pub before: Module,
    /// The program after.
    pub after: Module,
    /// What differs.
    pub error: Diagnostic,
}

/// What came of checking a rule.
pub struct Report {
    /// The result.
    pub soundness: Soundness,
    /// The instances on which it was applied and checked.
    pub instances: u64,
    /// The instances of its left side on which its conditions do not hold.
    pub refused: u64,
    /// The instances on which it applies, but what replaces the root cannot be made, or has another type.
    pub unmade: u64,
    /// The instances of which nothing can be said.
    pub open: u64,
    /// On so many inputs instances were run before and after.
    pub inputs: u64,
    /// The conditions that were never false where all else was right.
    pub never_false: Vec<&'static str>,
    /// The conditions without which no difference was found either.
    pub needless: Vec<&'static str>,
}

/// Checks rules of one context.
pub struct RuleChecker {
    ctx: Arc<Context>,
    signatures: Signatures,
    how: RuleOptions,
}

/// What is known of a condition.
#[derive(Clone, Copy, Default)]
struct Condition {
    /// So many instances it alone refuses.
    decisive: u64,
    /// Whether one of them would have been wrong.
    needed: bool,
}

impl RuleChecker {
    /// For rules of that context.
    pub fn new(ctx: &Arc<Context>, how: RuleOptions) -> RuleChecker {
        RuleChecker { ctx: ctx.clone(), signatures: Signatures::new(ctx), how }
    }

    /// Checks a rule. The same seed gives the same result.
    pub fn check(&mut self, rule: &Compiled) -> Report {
        let mut report = Report::empty();
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
            all.filter(|(_, known)| which(known)).map(|(call, _)| call.native.name).collect()
        };
        report.never_false = names(&|known| known.decisive == 0);
        report.needless = names(&|known| known.decisive >= ENOUGH && !known.needed);
        if report.instances > 0 {
            report.soundness = Soundness::Sound;
        }
        report
    }

    /// The instance with the rule applied at its root.
    fn applied(&self, rule: &Compiled, instance: &Instance) -> Option<Module> {
        let mut after = instance.module.clone();
        apply_at(&mut after, rule, instance.root).then_some(after)
    }

    /// Which conditions refuse the instance alone, and whether they should.
    fn ask(&self, rule: &Compiled, instance: &Instance, conditions: &mut [Condition]) {
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
                // What it would make is not even possible.
                known.needed = true;
                continue;
            };
            let mut unused = Report { instances: 1, ..Report::empty() };
            known.needed |= self.compare(rule, instance.module.clone(), after, &mut unused).is_some();
        }
    }

    /// Runs an instance before and after, and notes what came of it.
    fn compare(&self, rule: &Compiled, before: Module, after: Module, report: &mut Report) -> Option<Counterexample> {
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

impl Report {
    fn empty() -> Report {
        Report {
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

    /// Whether the rule may be used.
    pub fn is_sound(&self) -> bool {
        matches!(self.soundness, Soundness::Sound)
    }
}
