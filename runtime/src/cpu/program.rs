//! Callable functions: schedules are executed, others interpreted with kernels and the schedules that they call.

use super::call::{by_kernels, run_on};
use super::prepare;
use super::schedule::{Schedule, Usage};
use crate::workers::Workers;
use gradus_interp::{Interpreter, OpKernels, Stop};
use gradus_ir::diag::Refused;
use gradus_ir::eval::Datum;
use gradus_ir::{Module, Op, Refusal, Traits};
use gradus_networks::sched::is_interpreted;
use indexmap::IndexMap;
use rustc_hash::FxHashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// A compiled function for this machine.
///
/// A function that is a schedule is executed as such. Another one, such as one with control flow, is interpreted, and with it what it calls, but
/// for functions that are schedules.
pub struct CompiledFunction<'m> {
    module: &'m Module,
    function: Op,
    /// The schedules, shared with the handler of calls.
    schedules: Arc<Mutex<Schedules>>,
    /// The interpreter, for functions without a schedule.
    interpreter: Interpreter<'m>,
}

/// The schedules of a program, and the threads that execute them.
struct Schedules {
    /// The schedules by function, or the reason why a function is interpreted, in the order of the program.
    all: IndexMap<Op, Result<Schedule, Refusal>>,
    workers: Workers,
}

impl Schedules {
    /// Reads the schedule of a function, and those of all others if it has none.
    fn of(m: &Module, function: Op) -> Schedules {
        let own = Schedule::of(m, function);
        let is_other = |op: &Op| *op != function && m.has_trait(*op, Traits::FUNCTION);
        let others = if own.is_ok() { Vec::new() } else { m.ops_under(m.root()) };
        let others = others.into_iter().filter(is_other).map(|other| (other, Schedule::of(m, other)));
        Schedules { all: std::iter::once((function, own)).chain(others).collect(), workers: Workers::default() }
    }

    /// Runs the schedule of a function; `None` if no schedule takes these arguments.
    fn run(&mut self, m: &Module, function: Op, arguments: &[Datum]) -> Option<Result<Vec<Datum>, Stop>> {
        let schedule = self.all.get_mut(&function)?.as_mut().ok().filter(|schedule| schedule.takes(m, arguments))?;
        Some(schedule.run(m, &self.workers, arguments))
    }

    fn iter(&self) -> impl Iterator<Item = &Schedule> {
        self.all.values().filter_map(|schedule| schedule.as_ref().ok())
    }
}

impl<'m> CompiledFunction<'m> {
    /// Prepares a function of a valid program.
    pub fn new(module: &'m Module, function: Op) -> CompiledFunction<'m> {
        let schedules = Arc::new(Mutex::new(Schedules::of(module, function)));
        let shared = schedules.clone();
        let callees = move |callee: Op, arguments: &[Datum]| locked(&shared).run(module, callee, arguments);
        let interpreter = Interpreter::new(module).with_kernels(kernels_on_demand()).with_callees(Box::new(callees));
        CompiledFunction { module, function, schedules, interpreter }
    }

    /// Sets the threads of schedules.
    #[must_use]
    pub fn on(self, workers: Workers) -> CompiledFunction<'m> {
        locked(&self.schedules).workers = workers;
        self
    }

    /// Calls the function.
    ///
    /// # Errors
    /// The op that failed, with the reason.
    pub fn call(&mut self, arguments: Vec<Datum>) -> Result<Vec<Datum>, Stop> {
        let scheduled = locked(&self.schedules).run(self.module, self.function, &arguments);
        scheduled.unwrap_or_else(|| self.interpreter.call(self.function, arguments))
    }

    /// Returns the memory usage of all schedules, if there are any.
    pub fn usage(&self) -> Option<Usage> {
        locked(&self.schedules).iter().map(Schedule::usage).reduce(Usage::beside)
    }

    /// Returns the function with the reason, if it is interpreted and calls no schedules.
    pub fn refused(&self) -> Option<Refused> {
        let schedules = locked(&self.schedules);
        let refusal = schedules.all[&self.function].as_ref().err()?;
        schedules.iter().next().is_none().then(|| refusal.refused(self.module, self.function, "interpreted"))
    }

    /// Returns the total time of each step of the schedules, with its last op.
    pub fn spent(&self) -> Vec<(Op, Duration)> {
        locked(&self.schedules).iter().flat_map(Schedule::spent).collect()
    }

    /// Returns the ops evaluated by reference, by name, with their number over `calls` calls; constants do not count.
    pub fn reference(&self, calls: u64) -> Vec<(&'static str, u64)> {
        let mut counts = self.interpreter.declined().clone();
        for schedule in locked(&self.schedules).iter() {
            let names = schedule.reference().filter_map(|op| self.module.info(op));
            names.for_each(|info| *counts.entry(info.name).or_default() += calls);
        }
        let mut all: Vec<_> = counts.into_iter().collect();
        all.sort_unstable();
        all
    }
}

/// Returns the schedules, of which one runs at a time.
fn locked(schedules: &Mutex<Schedules>) -> MutexGuard<'_, Schedules> {
    schedules.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Kernels for the interpreter, prepared when an op first runs.
fn kernels_on_demand<'m>() -> OpKernels<'m> {
    let mut kernels = FxHashMap::default();
    Box::new(move |args, operands| {
        let of_op = |op| {
            let prepared = if is_interpreted(args.module, op) { None } else { prepare(args) };
            prepared.and_then(|prepared| by_kernels(args, prepared))
        };
        let op = args.op?;
        let prepared = kernels.entry(op).or_insert_with(|| of_op(op));
        let are_tensors = operands.iter().all(|datum| datum.tensor().is_ok());
        are_tensors.then_some(())?;
        Some(run_on(args, prepared.as_ref()?, operands))
    })
}
