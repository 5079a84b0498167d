//! Callable functions: schedules are executed, others interpreted with kernels and the schedules that they call.

use super::call::{by_kernels, run_on};
use super::schedule::{Schedule, Usage};
use super::{Prepared, prepare};
use crate::workers::Workers;
use gradus_interp::{Interpreter, InterpreterState, Stop};
use gradus_ir::diag::Refused;
use gradus_ir::eval::{Datum, Trap};
use gradus_ir::{Module, Op, OpArgs, Refusal, Traits};
use gradus_networks::sched::is_interpreted;
use indexmap::IndexMap;
use rustc_hash::FxHashMap;
use std::borrow::Borrow;
use std::time::Duration;

/// A compiled function for this machine, of a program that it owns or borrows.
///
/// A function that is a schedule is executed as such. Another one, such as one with control flow, is interpreted, and with it what it calls, but
/// for functions that are schedules.
pub struct CompiledFunction<M> {
    module: M,
    function: Op,
    schedules: Schedules,
    /// For functions without a schedule: the kernels of their ops, and the state of the interpreter.
    kernels: OpKernels,
    state: InterpreterState,
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

impl<M: Borrow<Module>> CompiledFunction<M> {
    /// Prepares a function of a valid program.
    pub fn new(module: M, function: Op) -> CompiledFunction<M> {
        let schedules = Schedules::of(module.borrow(), function);
        CompiledFunction {
            module,
            function,
            schedules,
            kernels: OpKernels::default(),
            state: InterpreterState::default(),
        }
    }

    /// Sets the threads of schedules.
    #[must_use]
    pub fn on(mut self, workers: Workers) -> CompiledFunction<M> {
        self.schedules.workers = workers;
        self
    }

    /// Returns the program.
    pub fn module(&self) -> &Module {
        self.module.borrow()
    }

    /// Calls the function.
    ///
    /// # Errors
    /// The op that failed, with the reason.
    pub fn call(&mut self, arguments: Vec<Datum>) -> Result<Vec<Datum>, Stop> {
        let CompiledFunction { module, function, schedules, kernels, state } = self;
        let m: &Module = (*module).borrow();
        if let Some(done) = schedules.run(m, *function, &arguments) {
            return done;
        }
        let callees = |callee: Op, arguments: &[Datum]| schedules.run(m, callee, arguments);
        let interpreter = Interpreter::resume(m, std::mem::take(state));
        let kernels = |args: &OpArgs<'_>, operands: &[Datum]| kernels.run(args, operands);
        let mut interpreter = interpreter.with_kernels(Box::new(kernels)).with_callees(Box::new(callees));
        let done = interpreter.call(*function, arguments);
        *state = interpreter.into_state();
        done
    }

    /// Returns the memory usage of all schedules, if there are any.
    pub fn usage(&self) -> Option<Usage> {
        self.schedules.iter().map(Schedule::usage).reduce(Usage::beside)
    }

    /// Returns the function with the reason, if it is interpreted and calls no schedules.
    pub fn refused(&self) -> Option<Refused> {
        let refusal = self.schedules.all[&self.function].as_ref().err()?;
        let calls_none = self.schedules.iter().next().is_none();
        calls_none.then(|| refusal.refused(self.module(), self.function, "interpreted"))
    }

    /// Returns the total time of each step of the schedules, with its last op.
    pub fn spent(&self) -> Vec<(Op, Duration)> {
        self.schedules.iter().flat_map(Schedule::spent).collect()
    }

    /// Returns the ops evaluated by reference, by name, with their number over `calls` calls; constants, and ops whose own functions are as
    /// fast as kernels, do not count.
    pub fn reference(&self, calls: u64) -> Vec<(&'static str, u64)> {
        let mut counts = self.state.declined().clone();
        for schedule in self.schedules.iter() {
            let is_counted = |op: &Op| !super::is_direct(self.module(), *op);
            let names = schedule.reference().filter(is_counted).filter_map(|op| self.module().info(op));
            names.for_each(|info| *counts.entry(info.name).or_default() += calls);
        }
        let is_direct = |name: &str| super::DIRECT.iter().any(|info| info.name == name);
        let mut all: Vec<_> = counts.into_iter().filter(|(name, _)| !is_direct(name)).collect();
        all.sort_unstable();
        all
    }
}

/// The kernels of ops on tensors, each prepared when its op first runs.
#[derive(Default)]
pub struct OpKernels {
    prepared: FxHashMap<Op, Option<Prepared>>,
    workers: Workers,
}

impl OpKernels {
    /// Runs an op by its kernel; `None` if it has none.
    pub fn run(&mut self, args: &OpArgs<'_>, operands: &[Datum]) -> Option<Result<Vec<Datum>, Trap>> {
        let of_op = |op| {
            let prepared = if is_interpreted(args.module, op) { None } else { prepare(args) };
            prepared.and_then(|prepared| by_kernels(args, prepared))
        };
        let op = args.op?;
        let prepared = self.prepared.entry(op).or_insert_with(|| of_op(op));
        let are_tensors = operands.iter().all(|datum| datum.tensor().is_ok());
        are_tensors.then_some(())?;
        Some(run_on(args, &self.workers, prepared.as_ref()?, operands))
    }
}
