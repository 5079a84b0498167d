//! Comparing a transformed program with the original by execution.

use crate::execution::{self, Execution};
use crate::floats::Judge;
use crate::input::Input;
use crate::inputs::Inputs;
use crate::narrowing::Versions;
use crate::options::{Floats, Options};
use crate::outcome::{Difference, Outcome, Relation, Runner, allocates};
use crate::representing::refines;
use crate::show;
use crate::signature::function_parts;
use crate::transformed::Transformed;
use crate::witness;
use gradus_interp::IterationOrder;
use gradus_ir::equal::structurally_equal;
use gradus_ir::eval::Datum;
use gradus_ir::pass::Passed;
use gradus_ir::random::Random;
use gradus_ir::symbols::is_public;
use gradus_ir::{Diagnostic, Loc, Module, Op, Traits, Type, symbol_name};
use rustc_hash::FxHashMap;
use std::cell::{Cell, OnceCell};
use std::sync::Arc;

/// Factor by which the op limit of a transformed program exceeds that of the original.
const MORE_FUEL: u64 = 16;

/// Number of attempts per requested input; many functions are undefined on some inputs.
const TRIES: u64 = 4;

/// Number of attempts per input in checks of at least [`ENOUGH`] inputs, as long as fewer than these are defined.
const MORE_TRIES: u64 = 32;

/// Largest work of the attempts beyond [`TRIES`].
const MORE_WORK: u64 = 1 << 20;

/// Number of inputs without a difference that are conclusive, however many more were undefined.
const ENOUGH: u64 = 100;

/// Number of inputs on which a compiled program is executed.
const EXECUTED: usize = 50;

/// Limit of the elements of memory that the inputs and outcomes of a function keep.
const MAX_KEPT: usize = 1 << 21;

/// The verdict on a function.
#[derive(Debug)]
pub enum Verdict {
    /// No difference was found.
    Same {
        /// The inputs on which the function was defined and run in both versions.
        inputs: u64,
        /// The inputs on which it was undefined, or returned only poison.
        undefined: u64,
        /// The inputs discarded because of a limit, or because results are near a discontinuity or rounded.
        discarded: u64,
        /// Whether all possible inputs were tried.
        exhaustive: bool,
        /// The inputs on which it leaves more memory allocated than before.
        leaks: u64,
        /// The mode in which floats were compared.
        floats: Floats,
    },
    /// Neither the function nor anything that it may call has changed.
    Unchanged,
    /// It differs.
    Different(Box<Difference>),
    /// Inconclusive, for this reason.
    Inconclusive(String),
    /// The original could be run, the transformed function cannot, for this reason.
    Lost(String),
}

/// The original program, with the outcomes of its functions.
pub struct Reference<'m> {
    m: &'m Module,
    options: Options,
    functions: Vec<Function>,
    /// Whether the program allocates memory. Passes that lower tensors to memory leave freeing it to other passes.
    allocates: bool,
    /// Whether it is the original program, rather than one between two passes.
    is_original: bool,
}

/// A public function.
struct Function {
    name: String,
    op: Op,
    runs: OnceCell<Runs>,
    /// The versions that were compared.
    versions: Cell<Option<Versions>>,
}

/// The relations of the runs of a transformed function to those of the original, without a difference.
#[derive(Default)]
struct Relations {
    /// An outcome of which nothing is known.
    unknown: Option<Outcome>,
    /// Number of results that are near a discontinuity, rounded, or without a representation.
    close: u64,
    /// Number of runs that leave more memory allocated.
    leaks: u64,
    /// Number of runs, if fewer inputs are compared than the original has outcomes for.
    all: Option<u64>,
}

impl Relations {
    /// Adds the relation of an outcome; returns a difference.
    fn add(&mut self, relation: Relation, (input, before): (&Input, &Outcome), after: Outcome) -> Option<Difference> {
        match relation {
            Relation::Refines => {}
            Relation::Unknown => self.unknown = Some(after),
            Relation::Close => self.close += 1,
            Relation::Differs => return Some(Difference { input: input.clone(), before: before.clone(), after }),
        }
        None
    }
}

/// The outcomes of a function.
#[derive(Default)]
struct Runs {
    /// The inputs on which it was defined or returned poison, with the outcomes.
    defined: Vec<(Input, Outcome)>,
    /// The number of these on which it returned only poison.
    vacuous: u64,
    undefined: u64,
    discarded: u64,
    exhaustive: bool,
    /// The elements of memory in `defined`.
    kept: usize,
    /// The ops of all runs.
    work: u64,
    /// The reason why there are no more inputs.
    reason: Option<String>,
}

impl<'m> Reference<'m> {
    /// Takes the public functions with bodies in the outermost module; a pass may assume that it sees all calls of
    /// private functions.
    pub fn new(m: &'m Module, options: Options) -> Reference<'m> {
        let functions =
            functions(m).map(|(name, op)| Function { name, op, runs: OnceCell::new(), versions: Cell::default() });
        Reference { m, options, functions: functions.collect(), allocates: allocates(m), is_original: true }
    }

    /// Takes the program before a pass, which keeps floats.
    pub(crate) fn before_pass(m: &'m Module, options: Options) -> Reference<'m> {
        Reference { is_original: false, ..Reference::new(m, Options { floats: Floats::Bits, ..options }) }
    }

    /// Whether it is the original program.
    pub(crate) fn is_original(&self) -> bool {
        self.is_original
    }

    /// Returns the names of the functions, in order.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.functions.iter().map(|function| function.name.as_str())
    }

    /// Returns the verdict on the function of that name, if nothing else has changed.
    pub(crate) fn compare_alone(&self, name: &str, after: &Module) -> Verdict {
        let function = self.functions.iter().find(|f| f.name == name).expect("is one of the reference's");
        let new = functions(after).find(|(other, _)| other == name).map(|(_, op)| op);
        self.verdict(function, after, new, false)
    }

    /// Whether the program has no public functions.
    pub fn is_empty(&self) -> bool {
        self.functions.is_empty()
    }

    /// Whether any function can be run on any input.
    pub fn can_run(&self) -> bool {
        self.functions.iter().any(|function| !self.runs(function).defined.is_empty())
    }

    /// Whether a function is defined on enough inputs.
    pub(crate) fn is_conclusive(&self, name: &str) -> bool {
        self.functions.iter().any(|function| function.name == name && self.runs(function).reason.is_none())
    }

    /// Returns the verdict on each function, in order. Both programs share one context.
    pub fn compare<'a>(&'a self, after: &'a Module) -> impl Iterator<Item = (&'a str, Loc, Verdict)> + 'a {
        let others_changed = self.others_changed(after);
        let names: FxHashMap<String, Op> = functions(after).collect();
        self.functions.iter().map(move |function| {
            let new = names.get(&function.name).copied();
            (function.name.as_str(), self.m.loc(function.op), self.verdict(function, after, new, others_changed))
        })
    }

    /// Returns the verdicts after a change inside `op` only: on that function if it is public, else on all functions.
    fn compare_inside<'a>(
        &'a self,
        after: &'a Module,
        op: Op,
    ) -> Box<dyn Iterator<Item = (&'a str, Loc, Verdict)> + 'a> {
        let name = if is_callable(after, op) { symbol_name(after, op) } else { None };
        let same = |function: &&Function| name.is_some_and(|name| after.ctx.text(name) == function.name);
        match self.functions.iter().find(same) {
            Some(function) => {
                let verdict = self.verdict(function, after, Some(op), false);
                Box::new(std::iter::once((function.name.as_str(), self.m.loc(function.op), verdict)))
            }
            None => Box::new(self.compare(after)),
        }
    }

    /// Whether anything that several functions may use has changed.
    fn others_changed(&self, after: &Module) -> bool {
        let shared = |m: &Module| -> Vec<Op> {
            m.block_ops(m.body()).filter(|&op| !m.has_trait(op, Traits::FUNCTION) || !is_public(m, op)).collect()
        };
        let (old, new) = (shared(self.m), shared(after));
        old.len() != new.len() || old.iter().zip(&new).any(|(&a, &b)| !structurally_equal(self.m, a, after, b))
    }

    /// Returns the verdict on a public function that was removed or became another op. Calls from outside fail if nothing has its name.
    fn gone(&self, function: &Function, after: &Module) -> Verdict {
        let named = |op: Op| symbol_name(after, op).is_some_and(|name| after.ctx.text(name) == function.name);
        match self.runs(function).defined.first() {
            Some((input, before)) if !after.block_ops(after.body()).any(named) => {
                let reason = "there is no such function".to_owned();
                let outcome = Outcome::Undefined(self.m.loc(function.op), reason, Vec::new());
                Verdict::Different(Box::new(Difference {
                    input: input.clone(),
                    before: before.clone(),
                    after: outcome,
                }))
            }
            _ => Verdict::Inconclusive("it is no function any more".into()),
        }
    }

    fn verdict(&self, function: &Function, after: &Module, new: Option<Op>, others_changed: bool) -> Verdict {
        let Some(new) = new else { return self.gone(function, after) };
        if !others_changed && structurally_equal(self.m, function.op, after, new) {
            return Verdict::Unchanged;
        }
        let refined = self.refined_parameters(function, (after, new));
        let refined = refined.map(|types| Runs::of(self.m, function, self.options, Some(types)));
        let runs = refined.as_ref().unwrap_or_else(|| self.runs(function));
        let judge = self.judge(function, (after, new));
        let mut relations = Relations::default();
        let mut runner = match Transformed::new((self.m, function.op), (after, new), &self.options_after()) {
            Ok(transformed) => transformed,
            Err(unrelated) => return Verdict::Inconclusive(unrelated),
        };
        for ((input, before), order) in runs.defined.iter().zip(orders(self.options.seed)) {
            let Some(mut outcome) = runner.in_order(order).run(input) else {
                relations.close += 1;
                continue;
            };
            let mut relation = judge.relation(input, before, &outcome);
            if relation == Relation::Differs && self.depends_on_order(function, input, before, order) {
                outcome = runner.in_order(IterationOrder::Sequential).run(input).unwrap_or(outcome);
                relation = judge.relation(input, before, &outcome);
            }
            // Iterations in another order, such as by tiles, make the same calls in another order.
            if relation == Relation::Differs
                && self.depends_on_order(function, input, before, IterationOrder::Reversed)
                && judge.relation(input, &before.with_sorted_events(), &outcome.with_sorted_events())
                    != Relation::Differs
            {
                relation = Relation::Close;
            }
            if relation == Relation::Differs && !runner.has_values(before) {
                relation = Relation::Close;
            }
            relations.leaks += u64::from(relation == Relation::Refines && self.allocates && outcome.leaks_more(before));
            if let Some(difference) = relations.add(relation, (input, before), outcome) {
                return Verdict::Different(Box::new(difference));
            }
        }
        self.conclude(function, runs, relations)
    }

    /// Returns the verdicts on the function of that name, compared with a compiled program in each way of execution, until one differs.
    /// `None` if the function's inputs and effects are not those of a compiled program: memory, poison, external calls.
    pub(crate) fn executed(&self, name: &str, after: &Module, executions: &[&dyn Execution]) -> Option<Vec<Verdict>> {
        let function = self.functions.iter().find(|f| f.name == name)?;
        let new = self.function_in(name, after)?;
        let runs = self.runs(function);
        let is_passed = |(input, before): &&(Input, Outcome)| {
            input.buffers.is_empty() && before.is_of_values() && !input.args.iter().any(Datum::has_poison)
        };
        let passed: Vec<&(Input, Outcome)> = runs.defined.iter().filter(is_passed).take(EXECUTED).collect();
        let inputs: Vec<Vec<Datum>> = passed.iter().map(|(input, _)| input.args.clone()).collect();
        if inputs.is_empty() || function_parts(self.m, function.op) != function_parts(after, new) {
            return None;
        }
        let judge = self.judge(function, (after, new));
        // Most ways of execution give the same results, whose relation is known then.
        let mut known: Vec<Option<(Vec<Datum>, Relation)>> = vec![None; inputs.len()];
        let mut verdict = |execution: &dyn Execution| {
            let results = match execution.run(after, new, &inputs) {
                Ok(results) => results,
                Err(why) => return Verdict::Inconclusive(format!("it cannot be executed: {why}")),
            };
            let mut relations = Relations::default();
            let mut exact = execution.is_exact(after, new).then(|| Runner::new(after, &self.options));
            for (((input, before), result), known) in passed.iter().zip(results).zip(&mut known) {
                let values = result.as_ref().ok().cloned();
                let outcome = execution::outcome(result);
                let relation = match known {
                    Some((same, relation)) if values.as_ref() == Some(same) => *relation,
                    _ => judge.relation(input, before, &outcome),
                };
                // A difference in rounding, from the program that is executed.
                let is_rounded = || {
                    matches!(relation, Relation::Refines | Relation::Close)
                        && outcome.relation(before) == Relation::Differs
                };
                if let Some(exact) = exact.as_mut().filter(|_| is_rounded()) {
                    let interpreted = exact.run(new, input);
                    if outcome.relation(&interpreted) == Relation::Differs {
                        let (input, before) = (input.clone(), interpreted);
                        return Verdict::Different(Box::new(Difference { input, before, after: outcome }));
                    }
                }
                *known = values.map(|values| (values, relation));
                if let Some(difference) = relations.add(relation, (input, before), outcome) {
                    return Verdict::Different(Box::new(difference));
                }
            }
            relations.all = Some(inputs.len() as u64);
            self.conclude(function, runs, relations)
        };
        let mut verdicts = Vec::new();
        for &execution in executions {
            verdicts.push(verdict(execution));
            if matches!(verdicts.last(), Some(Verdict::Different(_))) {
                break;
            }
        }
        Some(verdicts)
    }

    /// Returns the function of that name in a transformed program.
    pub(crate) fn function_in(&self, name: &str, after: &Module) -> Option<Op> {
        functions(after).find(|(other, _)| other == name).map(|(_, op)| op)
    }

    /// Returns the verdict on a function without a difference.
    fn conclude(&self, function: &Function, runs: &Runs, relations: Relations) -> Verdict {
        let Relations { unknown, close, leaks, all } = relations;
        let all = all.unwrap_or_else(|| runs.conclusive());
        if close > all / 2 {
            let why = "results are near a jump, rounded, or without a representation";
            return Verdict::Inconclusive(format!("on {close} of {all} inputs {why}"));
        }
        match (unknown, &runs.reason) {
            (Some(outcome), _) => Verdict::Lost(show::outcome(self.m, function.op, &outcome)),
            (None, Some(reason)) => Verdict::Inconclusive(reason.clone()),
            (None, None) => Verdict::Same {
                inputs: all - close,
                undefined: runs.undefined + runs.vacuous,
                discarded: runs.discarded + close,
                exhaustive: runs.exhaustive && all == runs.conclusive(),
                leaks,
                floats: self.options.floats,
            },
        }
    }

    /// Whether the original, too, has another outcome if the iterations of parallel loops run in that order, for example
    /// because they make external calls.
    fn depends_on_order(&self, function: &Function, input: &Input, before: &Outcome, order: IterationOrder) -> bool {
        let reordered = || Runner::new(self.m, &self.options).in_order(order).run(function.op, input);
        order != IterationOrder::Sequential && reordered().relation(before) != Relation::Refines
    }

    fn runs<'a>(&self, function: &'a Function) -> &'a Runs {
        function.runs.get_or_init(|| Runs::of(self.m, function, self.options, None))
    }

    /// Returns the types of the parameters of a transformed function, if some have more static extents than before: few inputs of the
    /// original would fit.
    fn refined_parameters(&self, function: &Function, (after, new): (&Module, Op)) -> Option<Vec<Type>> {
        let ctx = &self.m.ctx;
        let (old, new) = (Inputs::of(self.m, function.op)?, Inputs::of(after, new)?);
        let keeps = |(&old, &new): (&Type, &Type)| old == new || refines(ctx, old, new);
        let is_refined = Arc::ptr_eq(ctx, &after.ctx)
            && old.types() != new.types()
            && old.types().len() == new.types().len()
            && old.types().iter().zip(new.types()).all(keeps);
        is_refined.then(|| new.types().to_vec())
    }

    /// Returns the verdict on each function that a pass may have changed.
    pub(crate) fn after<'a>(&'a self, passed: &'a Passed<'_>) -> impl Iterator<Item = (&'a str, Loc, Verdict)> + 'a {
        self.compare_inside(passed.module, passed.op)
    }

    /// Whether the function of that name differs after a pass as it does in `found`: by what it computes, or because it cannot be
    /// executed any more.
    pub(crate) fn differs_after(&self, passed: &Passed<'_>, name: &str, found: &Difference) -> bool {
        let is_like = |verdict| match verdict {
            Verdict::Different(difference) => difference.is_unsupported() == found.is_unsupported(),
            _ => false,
        };
        self.after(passed).any(|(other, _, verdict)| other == name && is_like(verdict))
    }

    /// Returns the error that reports a difference after a pass.
    pub fn error_after(&self, passed: &Passed<'_>, name: &str, difference: &Difference) -> Diagnostic {
        self.error(name, difference, &format!("after pass '{}'", passed.info.name))
    }

    /// Returns a difference on a smaller input, if one is found within the limits.
    pub fn smaller(&self, name: &str, after: &Module, difference: Difference) -> Difference {
        let old = self.functions.iter().find(|f| f.name == name);
        let new = functions(after).find(|(other, _)| other == name).map(|(_, op)| op);
        let (Some(function), Some(new)) = (old, new) else { return difference };
        let (old, new) = ((self.m, function.op), (after, new));
        let Ok(mut transformed) = Transformed::new(old, new, &self.options_after()) else { return difference };
        let judge = self.judge(function, new);
        let differs = |input: &Input, before: &Outcome| {
            let outcome = transformed.run(input)?;
            (judge.relation(input, before, &outcome) == Relation::Differs).then_some(outcome)
        };
        witness::smaller(old, difference, &self.options, differs)
    }

    /// Returns the options of runs of the transformed program.
    fn options_after(&self) -> Options {
        Options { fuel: MORE_FUEL * self.options.fuel, ..self.options }
    }

    /// Returns the judge of a transformed function, which knows its earlier versions.
    fn judge<'a>(&'a self, function: &Function, new: (&'a Module, Op)) -> Judge<'a> {
        let mut versions = function.versions.take();
        let judge = Judge::new((self.m, function.op), new, self.options, &mut versions);
        function.versions.set(versions);
        judge
    }

    /// Returns the error that reports a difference, at the original function.
    pub fn error(&self, name: &str, difference: &Difference, when: &str) -> Diagnostic {
        let function = self.functions.iter().find(|f| f.name == name).expect("is one of the reference's").op;
        let loc = self.m.loc(function);
        let mut d = Diagnostic::error(loc, format!("'@{name}' has a different meaning {when}"));
        for line in show::input(self.m, function, &difference.input) {
            d = d.note(loc, line);
        }
        let place = |outcome: &Outcome| outcome.loc().unwrap_or(loc);
        let [before, after] = show::outcomes(self.m, function, &difference.before, &difference.after);
        let mut d = d
            .note(place(&difference.before), format!("before: {before}"))
            .note(place(&difference.after), format!("after:  {after}"));
        if !self.is_original {
            d = d.note(loc, "compared with the program before the pass, bit by bit, since the pass keeps all floats");
        } else if let Some(word) = difference.input.floats.word().filter(|_| self.options.floats != Floats::Bits) {
            d = d.note(loc, format!("floats are compared as with --floats={word}"));
        }
        let aliased = difference.after.without_aliasing().relation(&difference.before.without_aliasing());
        match aliased {
            Relation::Refines => d.note(loc, "results differ only in the memory that they refer to"),
            _ => d,
        }
    }
}

impl Runs {
    /// Runs a function on inputs of the types of its parameters, or of others that they have too.
    fn of(m: &Module, function: &Function, options: Options, types: Option<Vec<Type>>) -> Runs {
        let mut runs = Runs::default();
        let Some(inputs) = Inputs::of(m, function.op).map(|inputs| inputs.with_floats(options.floats)) else {
            runs.reason = Some("it has no body".into());
            return runs;
        };
        let inputs = match types {
            Some(types) => inputs.with_types(types),
            None => inputs,
        };
        let mut runner = Runner::new(m, &options);
        if let Some(count) = inputs.count(options.exhaustive) {
            (0..count).for_each(|n| drop(runs.add(&mut runner, function.op, inputs.nth(n), &options)));
            let calls = runs.defined.iter().any(|(_, outcome)| !outcome.events().is_empty());
            if runs.discarded == 0 && !calls {
                runs.exhaustive = true;
                return runs;
            }
        }
        let mut random = Random::of((options.seed, &function.name));
        let mut last = None;
        for number in 0..MORE_TRIES * options.inputs {
            let wanted = runs.wanted(options);
            if runs.conclusive() >= wanted || number >= runs.tries(wanted) || runs.kept > MAX_KEPT {
                break;
            }
            match inputs.draw(&mut random) {
                Ok(input) => last = runs.add(&mut runner, function.op, input, &options).or(last),
                Err(ty) => {
                    runs.reason = Some(format!("no values of type {ty} can be drawn"));
                    return runs;
                }
            }
        }
        let (n, undefined, discarded) = (runs.conclusive(), runs.undefined + runs.vacuous, runs.discarded);
        let few = n < ENOUGH.min(runs.wanted(options)).min(undefined + discarded);
        runs.reason = few.then(|| {
            let example = last.map_or(String::new(), |o| format!(", such as: {}", show::outcome(m, function.op, &o)));
            format!("it is defined on {n} inputs, undefined on {undefined}, and {discarded} were discarded{example}")
        });
        runs
    }

    /// Returns the number of inputs on which a difference would be visible.
    fn conclusive(&self) -> u64 {
        self.defined.len() as u64 - self.vacuous
    }

    /// Returns the number of attempts to find `wanted` inputs, by the inputs found so far.
    fn tries(&self, wanted: u64) -> u64 {
        let is_few = wanted >= ENOUGH && self.conclusive() < ENOUGH && self.work < MORE_WORK;
        match self.defined.is_empty() {
            true if is_few => TRIES * wanted,
            true => wanted.div_ceil(2),
            false if is_few => MORE_TRIES * wanted,
            false => TRIES * wanted,
        }
    }

    /// Returns the number of inputs that suffice, by the work so far.
    fn wanted(&self, options: Options) -> u64 {
        if self.work > options.work { options.inputs.min(Options::FEW) } else { options.inputs }
    }

    /// Runs on an input; returns what came of it if it is of no use.
    fn add(&mut self, runner: &mut Runner<'_>, function: Op, input: Input, options: &Options) -> Option<Outcome> {
        let outcome = runner.run(function, &input);
        self.work += runner.spent() + input.elements() / options.elements_per_op;
        match outcome {
            Outcome::Undefined(_, _, ref events) if events.is_empty() => self.undefined += 1,
            Outcome::Limit | Outcome::Unsupported(..) | Outcome::Unknown(..) => self.discarded += 1,
            Outcome::Returned { .. } | Outcome::Aborted(..) | Outcome::Undefined(..) => {
                // The outcome keeps as much again.
                self.kept += 2 * input.buffers.iter().map(Vec::len).sum::<usize>();
                self.vacuous += u64::from(outcome.is_vacuous());
                self.defined.push((input, outcome));
                return None;
            }
        }
        Some(outcome)
    }
}

/// Returns the order of parallel iterations for one input after another.
fn orders(seed: u64) -> impl Iterator<Item = IterationOrder> {
    (0..).map(move |n| match n % 3 {
        0 => IterationOrder::Sequential,
        1 => IterationOrder::Reversed,
        _ => IterationOrder::Shuffled(seed.wrapping_add(n)),
    })
}

/// Whether it is a function of the outermost module, with a body, that can be called from outside.
fn is_callable(m: &Module, op: Op) -> bool {
    let body = m.regions(op).first();
    m.parent_block(op) == Some(m.body())
        && m.has_trait(op, Traits::FUNCTION)
        && body.is_some_and(|&r| m.entry(r).is_some())
        && is_public(m, op)
}

fn functions(m: &Module) -> impl Iterator<Item = (String, Op)> + '_ {
    let bodies = m.block_ops(m.body()).filter(|&op| is_callable(m, op));
    bodies.filter_map(|op| Some((m.ctx.text(symbol_name(m, op)?).to_owned(), op)))
}
