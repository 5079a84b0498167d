//! Callable functions: schedules are executed, others interpreted with kernels.

use super::map;
use super::schedule::{Schedule, Usage};
use super::{Kernel, Out, Prepared, aligned, dtype, extents, made, prepare, size};
use crate::aligned_bytes::AlignedBytes;
use crate::workers::Workers;
use gradus_interp::{Interpreter, OpKernels, Stop};
use gradus_ir::eval::{Datum, Trap};
use gradus_ir::{Module, Op, OpArgs, Tensor, Type};
use rustc_hash::FxHashMap;
use std::time::Duration;

/// A compiled function for this machine.
pub struct Program<'m> {
    module: &'m Module,
    function: Op,
    schedule: Option<Schedule>,
    /// The interpreter, for functions without a schedule.
    interpreter: Interpreter<'m>,
    workers: Workers,
}

impl<'m> Program<'m> {
    /// Prepares a function of a valid program.
    pub fn new(module: &'m Module, function: Op) -> Program<'m> {
        let schedule = Schedule::of(module, function);
        let interpreter = Interpreter::new(module).with_kernels(kernels_on_demand());
        Program { module, function, schedule, interpreter, workers: Workers::default() }
    }

    /// Sets the thread pool of schedules.
    pub fn on(self, workers: Workers) -> Program<'m> {
        Program { workers, ..self }
    }

    /// Calls the function.
    ///
    /// # Errors
    /// The op that failed, with the reason.
    pub fn call(&mut self, arguments: Vec<Datum>) -> Result<Vec<Datum>, Stop> {
        match &mut self.schedule {
            Some(schedule) if schedule.takes(self.module, &arguments) => {
                self.workers.run(|| schedule.run(self.module, &self.workers, &arguments))
            }
            _ => self.interpreter.call(self.function, arguments),
        }
    }

    /// The memory usage, if the function is a schedule.
    pub fn usage(&self) -> Option<Usage> {
        self.schedule.as_ref().map(Schedule::usage)
    }

    /// The total time of each step, with its last op, if the function is a schedule.
    pub fn spent(&self) -> Vec<(Op, Duration)> {
        self.schedule.iter().flat_map(Schedule::spent).collect()
    }

    /// The ops evaluated by reference, by name, with their number over `calls` calls; constants do not count.
    pub fn reference(&self, calls: u64) -> Vec<(&'static str, u64)> {
        let mut counts = self.interpreter.declined().clone();
        if let Some(schedule) = &self.schedule {
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
        let prepared = kernels.entry(args.op?).or_insert_with(|| prepare(args).and_then(|p| by_kernels(args, p)));
        let are_tensors = operands.iter().all(|datum| datum.tensor().is_ok());
        are_tensors.then_some(())?;
        Some(run_on(args, prepared.as_ref()?, operands))
    })
}

/// Turns elementwise stages into a kernel.
pub(super) fn by_kernels(args: &OpArgs<'_>, prepared: Prepared) -> Option<Prepared> {
    let Prepared::Map(stages) = prepared else { return Some(prepared) };
    let shapes: Option<Vec<_>> = (0..args.operands.len()).map(|i| extents(args.module, args.operand_type(i))).collect();
    Some(map::kernel(stages, &extents(args.module, args.result_types[0])?, &shapes?)?.into())
}

/// Runs the kernels of an op on tensors.
pub(super) fn run_on(args: &OpArgs<'_>, prepared: &Prepared, operands: &[Datum]) -> Result<Vec<Datum>, Trap> {
    let (m, types) = (args.module, args.result_types);
    let operands = operands.iter().map(|datum| datum.tensor().map(aligned)).collect::<Result<Vec<Tensor>, Trap>>()?;
    let lost = || Trap::unsupported("an extent is not known");
    let written = |(kernel, &ty): (&Kernel, &Type)| {
        let too_large = || Trap::unsupported("a result is larger than memory");
        let mut out = AlignedBytes::try_zeros(size(m, ty).ok_or_else(lost)?).ok_or_else(too_large)?;
        let data: Vec<&[u8]> = kernel.reads.iter().map(|&i| &operands[i].bytes()[..]).collect();
        (kernel.run)(&Workers::default(), &data, Out { bytes: out.as_mut(), columns: None })?;
        Ok(Datum::Tensor(made(dtype(m, ty).ok_or_else(lost)?, &extents(m, ty).ok_or_else(lost)?, out)))
    };
    match prepared {
        Prepared::Kernels(kernels) => kernels.iter().zip(types).map(written).collect(),
        Prepared::View | Prepared::Map(_) => {
            let shape = extents(m, types[0]).ok_or_else(lost)?;
            Ok(vec![Datum::Tensor(Tensor::new(operands[0].dtype(), shape, operands[0].bytes().clone())?)])
        }
    }
}
