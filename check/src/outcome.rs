//! What a run comes to, and when one may stand for another.

use crate::event::{Event, Events};
use crate::global::Globals;
use crate::input::Input;
use crate::options::Options;
use crate::seen::{Same, Seen, all_refine, floats_of, holds, same_bits};
use gradus_interp::Interpreter;
use gradus_ir::eval::{Datum, Trap};
use gradus_ir::memory::{Memory, Storage};
use gradus_ir::{Loc, Module, Op};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Runs that use more elements of memory are given up.
const MAX_MEMORY: usize = 1 << 14;

/// What a run came to.
#[derive(Clone, Debug)]
pub enum Outcome {
    /// It came to its end.
    Returned {
        /// The function's results.
        results: Vec<Seen>,
        /// What the memory that was given holds, if it is not freed.
        buffers: Vec<Option<Vec<Datum>>>,
        /// What globals hold that others can name, by name.
        globals: Vec<(String, Vec<Datum>)>,
        /// The calls of what is outside, in order.
        events: Vec<Event>,
    },
    /// The program has no meaning there: where, and why.
    Undefined(Loc, String),
    /// It stopped itself, after these calls.
    Aborted(Loc, String, Vec<Event>),
    /// It was given up.
    Limit,
    /// The interpreter cannot run it: where, and why not.
    Unsupported(Loc, String),
}

/// What relates a run to the one before.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Relation {
    /// It may stand for it.
    Refines,
    /// It may not.
    Differs,
    /// That cannot be said.
    Unknown,
    /// That cannot be said of this input: the result is near a jump, or was rounded.
    Close,
}

/// Runs a function of a valid program on an input, for at most so many ops.
pub fn run(m: &Module, function: Op, input: &Input, fuel: u64) -> Outcome {
    Runner::new(m, &Options { fuel, ..Options::default() }).run(function, input)
}

/// Runs functions of a program on one input after the other; what is called is prepared once.
pub struct Runner<'m> {
    m: &'m Module,
    interpreter: Interpreter<'m>,
    /// Shared with the interpreter, which adds external calls.
    events: Arc<Mutex<Events<'m>>>,
}

impl<'m> Runner<'m> {
    /// For a valid program.
    pub fn new(m: &'m Module, options: &Options) -> Runner<'m> {
        let events = Events { list: Vec::new(), globals: Globals::new(m), seed: 0, options: *options };
        let events = Arc::new(Mutex::new(events));
        let heard = events.clone();
        let mut interpreter = Interpreter::new(m)
            .fuel(options.fuel)
            .on_external(Box::new(move |m, op, operands, memory| locked(&heard).call(m, op, operands, memory)));
        interpreter.memory.limit = MAX_MEMORY;
        Runner { m, interpreter, events }
    }

    /// Runs a function, in memory of its own.
    pub fn run(&mut self, function: Op, input: &Input) -> Outcome {
        let (m, interpreter) = (self.m, &mut self.interpreter);
        interpreter.reset();
        if let Err(trap) = prepare(&mut locked(&self.events), input, &mut interpreter.memory) {
            return Outcome::Unsupported(m.loc(function), trap.to_string());
        }
        let result = interpreter.call(function, input.args.clone());
        let globals = locked(&self.events).globals.contents(&interpreter.memory);
        let events = std::mem::take(&mut locked(&self.events).list);
        let memory = &interpreter.memory;
        match result {
            Ok(values) => {
                let given = input.buffers.len() as u32;
                let results = values.iter().map(|datum| result_seen(memory, datum, given)).collect();
                let contents = |i: u32| memory.buffer(i).ok().map(<[Datum]>::to_vec);
                Outcome::Returned { results, buffers: (0..given).map(contents).collect(), globals, events }
            }
            Err(stop) => {
                let loc = m.loc(stop.op);
                let name = |reason: String| format!("'{}' {reason}", m.name_text(stop.op));
                match stop.trap {
                    Trap::Ub(reason) => Outcome::Undefined(loc, name(reason)),
                    Trap::Abort(reason) => Outcome::Aborted(loc, reason, events),
                    Trap::Limit(_) => Outcome::Limit,
                    Trap::Unsupported(reason) => Outcome::Unsupported(loc, name(reason)),
                }
            }
        }
    }
}

/// The events, of a run that is over or of the one call that adds to them.
fn locked<'a, 'm>(events: &'a Mutex<Events<'m>>) -> MutexGuard<'a, Events<'m>> {
    events.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Outcome {
    /// The floats that those outside see, by place; `None` for what is none.
    pub(crate) fn floats(&self) -> Vec<Vec<Option<f64>>> {
        let mut places = Vec::new();
        let events = match self {
            Outcome::Returned { results, buffers, globals, events } => {
                places.extend(results.iter().map(Seen::floats));
                places.extend(buffers.iter().map(|held| held.as_ref().map_or(Vec::new(), |held| floats_of(held))));
                places.extend(globals.iter().map(|(_, held)| floats_of(held)));
                events
            }
            Outcome::Aborted(_, _, events) => events,
            _ => return places,
        };
        for event in events {
            places.extend(event.args.iter().map(Seen::floats));
            places.extend(event.globals.iter().map(|(_, held)| floats_of(held)));
        }
        places
    }

    /// Whether anything outside the program was called.
    pub(crate) fn has_events(&self) -> bool {
        matches!(self, Outcome::Returned { events, .. } | Outcome::Aborted(_, _, events) if !events.is_empty())
    }

    /// Whether another run may do nearly anything: all results are poison, and nothing else came of it.
    pub(crate) fn is_vacuous(&self) -> bool {
        match self {
            Outcome::Returned { results, buffers, globals, events } => {
                let nothing_else = buffers.is_empty() && globals.is_empty() && events.is_empty();
                !results.is_empty() && results.iter().all(Seen::is_poison) && nothing_else
            }
            _ => false,
        }
    }

    /// The op that ended it early.
    pub fn loc(&self) -> Option<Loc> {
        match self {
            Outcome::Undefined(loc, _) | Outcome::Aborted(loc, ..) | Outcome::Unsupported(loc, _) => Some(*loc),
            Outcome::Returned { .. } | Outcome::Limit => None,
        }
    }

    /// Whether this run may stand for the one before, with floats that are equal bit by bit.
    pub fn relation(&self, before: &Outcome) -> Relation {
        self.relation_by(before, same_bits)
    }

    /// Whether this run may stand for the one before, with floats that `same` takes for equal.
    pub(crate) fn relation_by(&self, before: &Outcome, same: Same) -> Relation {
        let refines = match (before, self) {
            (Outcome::Undefined(..), _) => true,
            (Outcome::Limit | Outcome::Unsupported(..), _) | (_, Outcome::Unsupported(..)) => return Relation::Unknown,
            (
                Outcome::Returned { results, buffers, globals, events },
                Outcome::Returned {
                    results: other_results,
                    buffers: other_buffers,
                    globals: other_globals,
                    events: other_events,
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
            // Reasons are text for people; a pass may not change that the program stops, nor what it did before.
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

/// Makes the memory that a function finds.
fn prepare(events: &mut Events<'_>, input: &Input, memory: &mut Memory) -> Result<(), Trap> {
    events.seed = input.outside;
    events.list.clear();
    for contents in &input.buffers {
        memory.insert(contents.clone(), Storage::Heap)?;
    }
    events.globals.prepare(input, memory)
}

/// Whether all globals that others knew hold what they held.
fn same_globals(before: &[(String, Vec<Datum>)], after: &[(String, Vec<Datum>)], same: Same) -> bool {
    let same = |(name, held): &(String, Vec<Datum>)| {
        after.iter().find(|(other, _)| other == name).is_some_and(|(_, holds)| all_refine(held, holds, same))
    };
    before.iter().all(same)
}

fn same_events(before: &[Event], after: &[Event], same: Same) -> bool {
    let same = |(before, after): (&Event, &Event)| {
        before.name == after.name
            && before.args.len() == after.args.len()
            && same_globals(&before.globals, &after.globals, same)
            && before.args.iter().zip(&after.args).all(|(before, after)| after.refines(before, same))
    };
    before.len() == after.len() && before.iter().zip(after).all(same)
}

/// An input on which a function differs.
#[derive(Debug)]
pub struct Difference {
    /// The input.
    pub input: Input,
    /// What came of it.
    pub before: Outcome,
    /// What comes of it.
    pub after: Outcome,
}
