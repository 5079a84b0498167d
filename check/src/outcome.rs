//! The outcome of a run, and when one outcome refines another.

use crate::event::{Events, ExternalCall};
use crate::input::{Input, map_elements};
use crate::options::Options;
use crate::rounding::RandomRounding;
use crate::seen::{Same, Seen, all_refine, floats_of, has_subnormal, holds, numbers_of, same_bits};
use crate::signature::result_types;
use gradus_interp::{Interpreter, IterationOrder};
use gradus_ir::eval::{Datum, Trap, eval_op};
use gradus_ir::float::FloatKind;
use gradus_ir::memory::{Memory, Storage};
use gradus_ir::random::Random;
use gradus_ir::{Access, Effects, Loc, Module, Op, OpArgs, Type, Value};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Limit of the elements of memory that a run may allocate, besides those of memrefs of static shape and
/// [`PER_ELEMENT`] times those of the input.
const MAX_MEMORY: usize = 1 << 16;

/// Elements that a run may allocate for each element of the input's memory.
const PER_ELEMENT: usize = 4;

/// The outcome of a run.
#[derive(Clone, Debug)]
pub enum Outcome {
    /// The run completed.
    Returned {
        /// The function's results.
        results: Vec<Seen>,
        /// The contents of the memory passed in; `None` for a buffer that was freed.
        buffers: Vec<Option<Vec<Datum>>>,
        /// The contents of public globals, by name.
        globals: Vec<(String, Vec<Datum>)>,
        /// The external calls, in order.
        events: Vec<ExternalCall>,
        /// The number of heap buffers that the run allocated and neither freed nor returned.
        leaked: usize,
    },
    /// The behavior is undefined: the location, the reason and, if [`Options::strict_ub`] is set, the external calls
    /// before.
    Undefined(Loc, String, Vec<ExternalCall>),
    /// The program aborted, after these external calls: the location and the reason.
    Aborted(Loc, String, Vec<ExternalCall>),
    /// A limit on ops or memory was reached.
    Limit,
    /// An op has no semantics for its operands, such as those of another type: the location, the name of the op, and the reason. A compiled
    /// program names no op.
    Unsupported(Loc, String, String),
    /// Nothing is known: an op has no semantics at all, or there are too many elements. The location and the reason.
    Unknown(Loc, String),
}

/// The relation of a run to the run of the original program on the same input.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Relation {
    /// It refines the original run.
    Refines,
    /// It does not refine the original run.
    Differs,
    /// Unknown: a run reached a limit, or an op without semantics.
    Unknown,
    /// Unknown on this input, because the result is near a discontinuity or was rounded.
    Close,
}

/// Returns the ops of a program that allocate memory.
fn allocations(m: &Module) -> impl Iterator<Item = Op> {
    let allocates = |op: &Op| {
        let effects = m.info(*op).map(|info| info.effects);
        matches!(effects, Some(Effects::Memory(list)) if list.iter().any(|(access, _)| *access == Access::Alloc))
    };
    m.ops_under(m.root()).into_iter().filter(allocates)
}

/// Whether a program allocates memory.
pub(crate) fn allocates(m: &Module) -> bool {
    allocations(m).next().is_some()
}

/// Returns the number of elements of all memrefs of static shape that ops of a program allocate, such as arenas.
fn static_elements(m: &Module) -> usize {
    let elements = |v: Value| {
        let shape = m.ctx.static_shape(m.value_type(v))?;
        shape.iter().try_fold(1_usize, |n, &d| n.checked_mul(usize::try_from(d).ok()?))
    };
    allocations(m).flat_map(|op| m.results(op)).filter_map(elements).fold(0, usize::saturating_add)
}

/// Runs a function of a valid program on an input, for at most `fuel` ops.
pub fn run(m: &Module, function: Op, input: &Input, fuel: u64) -> Outcome {
    Runner::new(m, &Options { fuel, ..Options::default() }).run(function, input)
}

/// Runs functions of a program on one input after another; functions are compiled once.
pub struct Runner<'m> {
    m: &'m Module,
    interpreter: Interpreter<'m>,
    /// Limit of the elements of memory, besides those for the input.
    memory_limit: usize,
    /// Shared with the interpreter, which records external calls in it.
    events: Arc<Mutex<Events<'m>>>,
}

impl<'m> Runner<'m> {
    /// Creates a runner for a valid program.
    pub fn new(m: &'m Module, options: &Options) -> Runner<'m> {
        let events = Events::new(m, *options);
        let events = Arc::new(Mutex::new(events));
        let heard = events.clone();
        let interpreter = Interpreter::new(m)
            .fuel(options.fuel)
            .elements_per_op(options.elements_per_op)
            .on_external(Box::new(move |m, op, operands, memory| locked(&heard).call(m, op, operands, memory)));
        let memory_limit = interpreter.memory.limit.min(MAX_MEMORY.saturating_add(static_elements(m)));
        Runner { m, interpreter, memory_limit, events }
    }

    /// Reads external calls as those of an original program, which may pass values of other types.
    pub(crate) fn with_calls_of(self, original: &'m Module) -> Self {
        locked(&self.events).original = Some(original);
        self
    }

    /// Sets the order of the iterations of parallel loops.
    pub(crate) fn in_order(&mut self, order: IterationOrder) -> &mut Self {
        self.interpreter.order = order;
        self
    }

    /// Rounds the float operands of evaluated tensor and vector ops to a format where theirs is wider: how much results change
    /// tells how much roundings matter (stochastic arithmetic: Vignes, 1993).
    pub(crate) fn rounding_operands(mut self, kind: FloatKind, seed: u64) -> Self {
        let mut rounding = RandomRounding::new(kind, seed);
        self.interpreter = self.interpreter.with_evaluation(Box::new(move |args, operands| {
            let rounded: Vec<Datum> = operands.iter().map(|datum| rounding.datum(datum)).collect();
            Some(eval_op(args, &rounded))
        }));
        self
    }

    /// Changes the float operands of evaluated tensor and vector ops by a factor of `1 + by` or `1 - by`, and the sign of zeros, at
    /// random.
    pub(crate) fn perturbing_operands(mut self, by: f64, seed: u64) -> Self {
        let mut random = Random::of(("perturbed", seed));
        let mut shake = move |value: f64| match (value, random.next() & 1 == 0) {
            (0.0, true) => -value,
            (_, true) => value * (1.0 + by),
            (_, false) => value * (1.0 - by),
        };
        self.interpreter = self.interpreter.with_evaluation(Box::new(move |args, operands| {
            let perturbed: Vec<Datum> =
                operands.iter().map(|datum| map_elements(datum, &mut shake, &|dtype| dtype)).collect();
            Some(eval_op(args, &perturbed))
        }));
        self
    }

    /// Sets a flag when an op is evaluated of which a test holds, with its operands.
    pub(crate) fn noticing(
        mut self,
        flag: &'m AtomicBool,
        test: impl Fn(&OpArgs<'_>, &[Datum]) -> bool + Send + Sync + 'm,
    ) -> Self {
        self.interpreter = self.interpreter.with_evaluation(Box::new(move |args, operands| {
            flag.fetch_or(test(args, operands), Ordering::Relaxed);
            None
        }));
        self
    }

    /// Sets a flag when numbers leave the range of their type: when an evaluated op has more results that are infinite, or not a number, than
    /// operands, or a subnormal one.
    pub(crate) fn noticing_range(mut self, flag: &'m AtomicBool) -> Self {
        let count = |data: &[Datum]| data.iter().flat_map(numbers_of).filter(|number| !number.is_finite()).count();
        self.interpreter = self.interpreter.with_evaluation(Box::new(move |args, operands| {
            let results = eval_op(args, operands);
            let leaves = |results: &Vec<Datum>| count(results) > count(operands) || results.iter().any(has_subnormal);
            flag.fetch_or(results.as_ref().is_ok_and(leaves), Ordering::Relaxed);
            Some(results)
        }));
        self
    }

    /// Returns the number of ops of the last run, and of those that created elements count as.
    pub(crate) fn spent(&self) -> u64 {
        self.interpreter.spent()
    }

    /// Runs a function in fresh memory.
    pub fn run(&mut self, function: Op, input: &Input) -> Outcome {
        let (m, interpreter) = (self.m, &mut self.interpreter);
        interpreter.reset();
        interpreter.memory.limit = self.memory_limit + PER_ELEMENT * input.buffers.iter().map(Vec::len).sum::<usize>();
        if let Err(trap) = prepare(&mut locked(&self.events), input, &mut interpreter.memory) {
            return Outcome::Unknown(m.loc(function), trap.to_string());
        }
        let result = interpreter.call(function, input.args.clone());
        let globals = locked(&self.events).globals.contents(&interpreter.memory);
        let events = std::mem::take(&mut locked(&self.events).list);
        let strict = locked(&self.events).options.strict_ub;
        let memory = &mut interpreter.memory;
        match result {
            Ok(values) => {
                let given = input.buffers.len() as u32;
                let types = result_types(m, function).iter().map(Some).chain(std::iter::repeat(None));
                let value = |(datum, ty): (Datum, Option<&Type>)| match (datum, ty) {
                    (Datum::Poison, Some(&ty)) => m.ctx.poison_of(ty),
                    (datum, _) => datum,
                };
                let values: Vec<Datum> = values.into_iter().zip(types).map(value).collect();
                let results = values.iter().map(|datum| result_seen(memory, datum, given)).collect();
                let leaked = leaks(memory, &values, given);
                let buffers = (0..given).map(|i| memory.take(i)).collect();
                Outcome::Returned { results, buffers, globals, events, leaked }
            }
            Err(stop) => {
                let loc = m.loc(stop.op);
                let name = |reason: String| format!("'{}' {reason}", m.name_text(stop.op));
                match stop.trap {
                    Trap::Ub(reason) if strict => Outcome::Undefined(loc, name(reason), events),
                    Trap::Ub(reason) => Outcome::Undefined(loc, name(reason), Vec::new()),
                    Trap::Abort(reason) => Outcome::Aborted(loc, reason, events),
                    Trap::Limit(_) => Outcome::Limit,
                    Trap::Unsupported(reason) => {
                        Outcome::Unsupported(loc, m.name_text(stop.op).to_owned(), name(reason))
                    }
                    Trap::Unknown(reason) => Outcome::Unknown(loc, name(reason)),
                }
            }
        }
    }
}

/// Locks the events. The lock is free: a run is over, or its only running call asks.
fn locked<'a, 'm>(events: &'a Mutex<Events<'m>>) -> MutexGuard<'a, Events<'m>> {
    events.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Outcome {
    /// Returns the observable floats by place; `None` for other values.
    pub(crate) fn floats(&self) -> Vec<Vec<Option<f64>>> {
        self.places().iter().map(|place| floats_of(place)).collect()
    }

    /// Returns the observable elements by place: results, memory, globals and the arguments of external calls.
    pub(crate) fn places(&self) -> Vec<Vec<Datum>> {
        let mut places = Vec::new();
        let events = match self {
            Outcome::Returned { results, buffers, globals, events, .. } => {
                places.extend(results.iter().map(Seen::elements));
                places.extend(buffers.iter().map(|held| held.clone().unwrap_or_default()));
                places.extend(globals.iter().map(|(_, held)| held.clone()));
                events
            }
            Outcome::Aborted(_, _, events) | Outcome::Undefined(_, _, events) => events,
            Outcome::Limit | Outcome::Unsupported(..) | Outcome::Unknown(..) => return places,
        };
        for event in events {
            places.extend(event.args.iter().map(Seen::elements));
            places.extend(event.globals.iter().map(|(_, held)| held.clone()));
        }
        places
    }

    /// The external calls that the run is known to have made.
    pub(crate) fn events(&self) -> &[ExternalCall] {
        match self {
            Outcome::Returned { events, .. } | Outcome::Aborted(_, _, events) | Outcome::Undefined(_, _, events) => {
                events
            }
            Outcome::Limit | Outcome::Unsupported(..) | Outcome::Unknown(..) => &[],
        }
    }

    /// Whether the run has no effects, and results other than memory.
    pub(crate) fn is_of_values(&self) -> bool {
        match self {
            Outcome::Returned { results, buffers, globals, events, .. } => {
                let are_values = results.iter().all(|result| matches!(result, Seen::Value(_)));
                are_values && buffers.is_empty() && globals.is_empty() && events.is_empty()
            }
            _ => self.events().is_empty(),
        }
    }

    /// Whether nearly every run refines this one: all results are poison and there are no side effects.
    pub(crate) fn is_vacuous(&self) -> bool {
        match self {
            Outcome::Returned { results, buffers, globals, events, .. } => {
                let nothing_else = buffers.is_empty() && globals.is_empty() && events.is_empty();
                !results.is_empty() && results.iter().all(Seen::is_poison) && nothing_else
            }
            _ => false,
        }
    }

    /// Whether the run leaves more of its own memory allocated than the original run.
    pub(crate) fn leaks_more(&self, before: &Outcome) -> bool {
        match (before, self) {
            (Outcome::Returned { leaked: before, .. }, Outcome::Returned { leaked: after, .. }) => after > before,
            _ => false,
        }
    }

    /// Returns the outcome without the information which memory results refer to.
    pub(crate) fn without_aliasing(&self) -> Outcome {
        let mut outcome = self.clone();
        if let Outcome::Returned { results, .. } = &mut outcome {
            for result in results {
                if let Seen::Memory { buffer, .. } = result {
                    *buffer = None;
                }
            }
        }
        outcome
    }

    /// Returns the outcome with its external calls in an order that does not depend on that of the run.
    pub(crate) fn with_sorted_events(&self) -> Outcome {
        let mut outcome = self.clone();
        if let Outcome::Returned { events, .. } | Outcome::Aborted(_, _, events) | Outcome::Undefined(_, _, events) =
            &mut outcome
        {
            events.sort_by_cached_key(|event| format!("{event:?}"));
        }
        outcome
    }

    /// Returns the outcome with those results of 8-bit integers that are one step from `before`, and that differ from it in one of
    /// `others` too, replaced by those of `before`; or at most `free` steps, or as many as one of `others`.
    pub(crate) fn within_step_of(&self, before: &Outcome, others: &[Outcome], free: u64) -> Outcome {
        let mut outcome = self.clone();
        if let Outcome::Returned { results, .. } = &mut outcome {
            for (i, (result, before)) in results.iter_mut().zip(before.results()).enumerate() {
                let others: Vec<&Seen> = others.iter().filter_map(|other| other.results().get(i)).collect();
                result.snap(before, &others, free);
            }
        }
        outcome
    }

    /// Returns the results of a run that returned.
    fn results(&self) -> &[Seen] {
        if let Outcome::Returned { results, .. } = self { results } else { &[] }
    }

    /// Returns the location of the op that ended the run early.
    pub fn loc(&self) -> Option<Loc> {
        match self {
            Outcome::Undefined(loc, ..)
            | Outcome::Aborted(loc, ..)
            | Outcome::Unsupported(loc, ..)
            | Outcome::Unknown(loc, _) => Some(*loc),
            Outcome::Returned { .. } | Outcome::Limit => None,
        }
    }

    /// Returns the relation of this run to the original one, with floats compared bit by bit.
    pub fn relation(&self, before: &Outcome) -> Relation {
        self.relation_by(before, same_bits)
    }

    /// Returns the relation of this run to the original one, with floats compared by `same`.
    pub(crate) fn relation_by(&self, before: &Outcome, same: Same) -> Relation {
        let refines = match (before, self) {
            (Outcome::Undefined(_, _, events), _) if events.is_empty() => true,
            (Outcome::Limit | Outcome::Unsupported(..) | Outcome::Unknown(..), _) | (_, Outcome::Unknown(..)) => {
                return Relation::Unknown;
            }
            (
                Outcome::Returned { results, buffers, globals, events, .. },
                Outcome::Returned {
                    results: other_results,
                    buffers: other_buffers,
                    globals: other_globals,
                    events: other_events,
                    ..
                },
            ) => {
                same_events(events, other_events, same)
                    && same_globals(globals, other_globals, same)
                    && results.len() == other_results.len()
                    && results.iter().zip(other_results).all(|(before, after)| after.refines(before, same))
                    && buffers
                        .iter()
                        .zip(other_buffers)
                        .all(|(before, after)| holds(before.as_ref(), after.as_ref(), same))
            }
            // Where a value was poison, it may be one for which an op has no semantics.
            (_, Outcome::Unsupported(..)) if before.is_vacuous() => return Relation::Unknown,
            // After the calls before undefined behavior anything may happen.
            (Outcome::Undefined(..), Outcome::Limit) => return Relation::Unknown,
            (Outcome::Undefined(_, _, events), after) => {
                let others = after.events().get(..events.len());
                others.is_some_and(|others| same_events(events, others, same))
            }
            // The text of the reason may change; a pass may change neither the abort nor the calls before it.
            (Outcome::Aborted(_, reason, events), Outcome::Aborted(_, other, others)) => {
                reason == other && same_events(events, others, same)
            }
            _ => false,
        };
        if refines { Relation::Refines } else { Relation::Differs }
    }
}

fn result_seen(memory: &Memory, datum: &Datum, given: u32) -> Seen {
    let mut seen = Seen::of(memory, datum);
    if let (Seen::Memory { buffer, .. }, Datum::MemRef(view)) = (&mut seen, datum) {
        *buffer = Some(view.buffer).filter(|&number| number < given);
    }
    seen
}

/// Returns the number of heap buffers beyond the `given` ones of the input that no result refers to.
fn leaks(memory: &Memory, results: &[Datum], given: u32) -> usize {
    let is_returned =
        |number: u32| results.iter().any(|datum| matches!(datum, Datum::MemRef(view) if view.buffer == number));
    memory.heap().filter(|&number| number >= given && !is_returned(number)).count()
}

/// Allocates the memory of the input and of the globals.
fn prepare(events: &mut Events<'_>, input: &Input, memory: &mut Memory) -> Result<(), Trap> {
    (events.seed, events.floats) = (input.outside, input.floats);
    events.list.clear();
    for contents in &input.buffers {
        memory.insert(contents.clone(), Storage::Heap)?;
    }
    events.globals.prepare(input, memory)
}

/// Whether all public globals have equal contents in both runs.
fn same_globals(before: &[(String, Vec<Datum>)], after: &[(String, Vec<Datum>)], same: Same) -> bool {
    let same = |(name, held): &(String, Vec<Datum>)| {
        after.iter().find(|(other, _)| other == name).is_some_and(|(_, holds)| all_refine(held, holds, same))
    };
    before.iter().all(same)
}

fn same_events(before: &[ExternalCall], after: &[ExternalCall], same: Same) -> bool {
    let same = |(before, after): (&ExternalCall, &ExternalCall)| {
        before.name == after.name
            && before.args.len() == after.args.len()
            && same_globals(&before.globals, &after.globals, same)
            && before.args.iter().zip(&after.args).all(|(before, after)| after.refines(before, same))
    };
    before.len() == after.len() && before.iter().zip(after).all(same)
}

/// An input on which the two versions of a function differ.
#[derive(Debug)]
pub struct Difference {
    /// The input.
    pub input: Input,
    /// The outcome of the original program.
    pub before: Outcome,
    /// The outcome of the transformed program.
    pub after: Outcome,
}

impl Difference {
    /// Whether the transformed program differs by not ending within the limits.
    pub fn is_endless(&self) -> bool {
        matches!(self.after, Outcome::Limit)
    }

    /// Whether the transformed program cannot be executed on the input.
    pub(crate) fn is_unsupported(&self) -> bool {
        matches!(self.after, Outcome::Unsupported(..))
    }
}
