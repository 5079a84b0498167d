//! Schedules as lists of kernels over memory.

use super::reader::{Life, ScheduleReader};
use super::step::{ScheduleStep, tensor};
use super::store::{MemoryRange, Others, Store};
use super::{aligned, extents};
use crate::workers::Workers;
use gradus_interp::Stop;
use gradus_ir::eval::Datum;
use gradus_ir::{Module, Op, Refusal, Tensor, Traits, Type, Value};
use gradus_networks::sched::is_schedule;
use rustc_hash::FxHashMap;
use std::time::{Duration, Instant};

/// The memory usage of a program in bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Usage {
    /// Size of all arenas and buffers.
    pub reserved: usize,
    /// Lower bound: the largest total size of buffers that are live at the same step.
    pub needed: usize,
    /// Total size of all buffers.
    pub unshared: usize,
}

impl Usage {
    /// Returns the usage of two programs that run one after the other in the same process.
    pub(super) fn beside(self, other: Usage) -> Usage {
        Usage {
            reserved: self.reserved + other.reserved,
            needed: self.needed.max(other.needed),
            unshared: self.unshared + other.unshared,
        }
    }
}

/// The steps of a function.
pub(super) struct Schedule {
    steps: Vec<ScheduleStep>,
    constants: Vec<Tensor>,
    /// The function's results with their types.
    results: Vec<(MemoryRange, Type)>,
    arguments: Vec<Type>,
    store: Store,
    usage: Usage,
}

impl Schedule {
    /// Reads the schedule of a function.
    ///
    /// # Errors
    /// The reason why the function is not a schedule.
    pub(super) fn of(m: &Module, function: Op) -> Result<Schedule, Refusal> {
        let block = m.regions(function).first().and_then(|&region| m.entry(region)).ok_or("no body")?;
        m.next_block(block).is_none().then_some(()).ok_or("several blocks")?;
        is_schedule(m, function).then_some(()).ok_or("no steps")?;
        let mut reader = ScheduleReader::new(m);
        let mut ops = m.block_ops(block);
        let last = ops.next_back().filter(|&last| m.has_trait(last, Traits::RETURN_LIKE)).ok_or("no return")?;
        ops.try_for_each(|op| reader.op(op).ok_or(Refusal::of_other(op, "an op that schedules do not have")))?;
        let results = m.operands(last).iter().map(|&v| Some((reader.tensor(v)?, m.value_type(v))));
        let results = results.collect::<Option<Vec<_>>>().ok_or("a result that is in no buffer")?;
        let arguments = m.block_args(block).iter().map(|&v| m.value_type(v)).collect();
        let ScheduleReader { steps, constants, mut store, lives, .. } = reader;
        store
            .allocate(steps.iter().map(ScheduleStep::scratch).max().unwrap_or(0))
            .ok_or("buffers that do not fit into memory")?;
        let usage = usage(&lives, store.size(), steps.len());
        Ok(Schedule { steps, constants, results, arguments, store, usage })
    }

    /// Returns the memory usage.
    pub(super) fn usage(&self) -> Usage {
        self.usage
    }

    /// Returns the ops without a kernel.
    pub(super) fn reference(&self) -> impl Iterator<Item = Op> {
        self.steps.iter().flat_map(ScheduleStep::reference)
    }

    /// Returns the last op of each step, with its total time over all runs.
    pub(super) fn spent(&self) -> impl Iterator<Item = (Op, Duration)> {
        self.steps.iter().map(|step| (step.op, step.spent))
    }

    /// Whether arguments match the function's parameters.
    pub(super) fn takes(&self, m: &Module, arguments: &[Datum]) -> bool {
        let fits = |(datum, &ty): (&Datum, &Type)| match datum {
            Datum::Tensor(t) => extents(m, ty).as_deref() == Some(t.shape()) && super::dtype(m, ty) == Some(t.dtype()),
            _ => false,
        };
        arguments.len() == self.arguments.len() && arguments.iter().zip(&self.arguments).all(fits)
    }

    /// Runs all steps.
    pub(super) fn run(&mut self, m: &Module, workers: &Workers, arguments: &[Datum]) -> Result<Vec<Datum>, Stop> {
        let tensors = arguments.iter().map(|datum| datum.tensor().ok().map(aligned));
        let arguments: Vec<Tensor> = tensors.flatten().collect();
        let others = Others { arguments: &arguments, constants: &self.constants };
        let Some(first) = self.steps.first() else { return Ok(self.results(m, others)) };
        self.store.begin().map_err(|trap| Stop { op: first.op, trap })?;
        let mut before = Instant::now();
        for step in &mut self.steps {
            step.run(m, workers, others, &mut self.store).map_err(|trap| Stop { op: step.op, trap })?;
            let after = Instant::now();
            step.spent += after - std::mem::replace(&mut before, after);
        }
        self.store.end();
        Ok(self.results(m, others))
    }

    /// Returns the function's results.
    fn results(&self, m: &Module, others: Others<'_>) -> Vec<Datum> {
        let result =
            |(place, ty): &(MemoryRange, Type)| tensor(m, self.store.result(place, others)?, *ty).map(Datum::Tensor);
        self.results.iter().map(|one| result(one).unwrap_or(Datum::Poison)).collect()
    }
}

/// Returns the memory usage of buffers with these lives, in memory of `reserved` bytes.
fn usage(lives: &FxHashMap<Value, Life>, reserved: usize, steps: usize) -> Usage {
    let mut change = vec![0_isize; steps + 2];
    #[allow(clippy::iter_over_hash_type, reason = "sums do not depend on the order")]
    for life in lives.values() {
        change[life.first] += life.bytes as isize;
        change[life.last + 1] -= life.bytes as isize;
    }
    let mut now = 0;
    let live = change.into_iter().map(|bytes| {
        now += bytes;
        now
    });
    let needed = live.max().unwrap_or(0) as usize;
    Usage { reserved, needed, unshared: lives.values().map(|life| life.bytes).sum() }
}
