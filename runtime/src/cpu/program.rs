//! Callable functions: schedules are executed, others interpreted with kernels.

use super::call::{by_kernels, run_on};
use super::prepare;
use super::schedule::{Schedule, Usage};
use crate::workers::Workers;
use gradus_interp::{Interpreter, OpKernels, Stop};
use gradus_ir::diag::Refused;
use gradus_ir::eval::Datum;
use gradus_ir::{Module, Op, Refusal};
use gradus_networks::sched::is_interpreted;
use rustc_hash::FxHashMap;
use std::time::Duration;

/// A compiled function for this machine.
pub struct CompiledFunction<'m> {
    module: &'m Module,
    function: Op,
    /// The schedule, or the reason why the function is interpreted.
    schedule: Result<Schedule, Refusal>,
    /// The interpreter, for functions without a schedule.
    interpreter: Interpreter<'m>,
    workers: Workers,
}

impl<'m> CompiledFunction<'m> {
    /// Prepares a function of a valid program.
    pub fn new(module: &'m Module, function: Op) -> CompiledFunction<'m> {
        let schedule = Schedule::of(module, function);
        let interpreter = Interpreter::new(module).with_kernels(kernels_on_demand());
        CompiledFunction { module, function, schedule, interpreter, workers: Workers::default() }
    }

    /// Sets the threads of schedules.
    pub fn on(self, workers: Workers) -> CompiledFunction<'m> {
        CompiledFunction { workers, ..self }
    }

    /// Calls the function.
    ///
    /// # Errors
    /// The op that failed, with the reason.
    pub fn call(&mut self, arguments: Vec<Datum>) -> Result<Vec<Datum>, Stop> {
        match &mut self.schedule {
            Ok(schedule) if schedule.takes(self.module, &arguments) => {
                schedule.run(self.module, &self.workers, &arguments)
            }
            _ => self.interpreter.call(self.function, arguments),
        }
    }

    /// Returns the memory usage, if the function is a schedule.
    pub fn usage(&self) -> Option<Usage> {
        self.schedule.as_ref().ok().map(Schedule::usage)
    }

    /// Returns the function with the reason, if it is interpreted.
    pub fn refused(&self) -> Option<Refused> {
        let refusal = self.schedule.as_ref().err()?;
        Some(refusal.refused(self.module, self.function, "interpreted"))
    }

    /// Returns the total time of each step, with its last op, if the function is a schedule.
    pub fn spent(&self) -> Vec<(Op, Duration)> {
        self.schedule.iter().flat_map(Schedule::spent).collect()
    }

    /// Returns the ops evaluated by reference, by name, with their number over `calls` calls; constants do not count.
    pub fn reference(&self, calls: u64) -> Vec<(&'static str, u64)> {
        let mut counts = self.interpreter.declined().clone();
        if let Ok(schedule) = &self.schedule {
            let names = schedule.reference().filter_map(|op| self.module.info(op));
            names.for_each(|info| *counts.entry(info.name).or_default() += calls);
        }
        let mut all: Vec<_> = counts.into_iter().collect();
        all.sort_unstable();
        all
    }
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
