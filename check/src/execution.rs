//! Comparing a compiled program, as a target executes it, with the original.
//!
//! Passes are compared by the reference semantics of the ops that they make. Kernels, machine code and simulated machines are not part of
//! those, so the last comparison is the compiled program as it runs.

use crate::event::ExternalCall;
use crate::outcome::Outcome;
use crate::seen::Seen;
use gradus_ir::eval::{Datum, Trap};
use gradus_ir::{Loc, Module, Op};

/// A way to execute compiled programs, such as a target on a number of threads.
pub trait Execution {
    /// The name in messages, such as `cpu with 2 threads`.
    fn name(&self) -> String;

    /// Runs a function of a compiled program on several inputs. Returns the results for each.
    ///
    /// # Errors
    /// The reason why the function cannot be executed.
    fn run(&self, m: &Module, function: Op, inputs: &[Vec<Datum>]) -> Result<Vec<Result<Vec<Datum>, Trap>>, String>;

    /// Whether it gives the bits of the semantics of a function, so that a rounding that differs is a mistake.
    fn is_exact(&self, m: &Module, function: Op) -> bool;

    /// Returns the steps of a function that may be interpreted one by one, or its ops, in order.
    fn steps(&self, m: &Module, function: Op) -> Vec<Op>;

    /// Marks a step as interpreted.
    fn interpret(&self, m: &mut Module, step: Op);
}

/// The outcome of an execution.
pub(crate) fn outcome(result: Result<Vec<Datum>, Trap>) -> Outcome {
    let (loc, no_events) = (Loc::UNKNOWN, Vec::<ExternalCall>::new());
    match result {
        Ok(values) => Outcome::Returned {
            results: values.into_iter().map(Seen::Value).collect(),
            buffers: Vec::new(),
            globals: Vec::new(),
            events: no_events,
            leaked: 0,
        },
        Err(Trap::Ub(reason)) => Outcome::Undefined(loc, reason, no_events),
        Err(Trap::Abort(reason)) => Outcome::Aborted(loc, reason, no_events),
        Err(Trap::Limit(_)) => Outcome::Limit,
        Err(Trap::Unsupported(reason)) => Outcome::Unsupported(loc, String::new(), reason),
        Err(Trap::Unknown(reason)) => Outcome::Unknown(loc, reason),
    }
}
