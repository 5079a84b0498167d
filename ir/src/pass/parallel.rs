//! Multithreading: functions are split into modules, one per thread, transformed there, and merged back. Results do not
//! depend on the number of threads.

use super::context::PassContext;
use super::event::PassEvent;
use super::pipeline::{Pipeline, Scheduled};
use super::run::{Failed, Failure, RunOptions, Runner};
use super::timing::Timer;
use crate::module::{Module, Op};
use crate::threads::module_split::{ModulePart, leave_placeholders};
use crate::threads::partition::{count_ops, is_function, partition};
use std::panic::resume_unwind;
use std::thread;
use std::time::Instant;

/// Work that can be divided among threads by function.
pub(super) trait Work: Send + Sized {
    /// Whether functions after a failed one are still processed.
    const GOES_ON: bool;

    /// Creates the same passes for another thread.
    fn again(&self) -> Self;

    /// Adds the statistics of a copy made by [`Work::again`].
    fn add_counts(&mut self, other: &Self);

    /// Processes functions, which are children of `op`.
    fn run(
        &mut self,
        runner: &mut Runner<'_>,
        m: &mut Module,
        op: Op,
        functions: &[Op],
        timer: &mut Timer,
    ) -> Result<(), Failed>;
}

/// Pipelines on functions.
impl Work for Vec<Pipeline> {
    const GOES_ON: bool = true;

    fn again(&self) -> Self {
        self.iter().map(Pipeline::again).collect()
    }

    fn add_counts(&mut self, other: &Self) {
        self.iter_mut().zip(other).for_each(|(pipeline, other)| pipeline.add_counts(other));
    }

    fn run(
        &mut self,
        runner: &mut Runner<'_>,
        m: &mut Module,
        _: Op,
        functions: &[Op],
        timer: &mut Timer,
    ) -> Result<(), Failed> {
        runner.on_targets(self, m, functions, timer)
    }
}

/// A function-local pass on the op around the functions.
impl Work for Scheduled {
    const GOES_ON: bool = false;

    fn again(&self) -> Self {
        Scheduled::again(self)
    }

    fn add_counts(&mut self, other: &Self) {
        self.counts.iter_mut().zip(&other.counts).for_each(|(n, more)| *n += more);
    }

    fn run(&mut self, runner: &mut Runner<'_>, m: &mut Module, op: Op, _: &[Op], _: &mut Timer) -> Result<(), Failed> {
        runner.guarded(self, m, op)
    }
}

/// The result of one thread.
struct ThreadResult<W> {
    part: ModulePart,
    work: W,
    events: Vec<PassEvent>,
    failures: Vec<Failure>,
    timer: Timer,
    result: Result<(), Failed>,
}

impl RunOptions {
    /// Returns the maximum number of threads.
    pub fn max_threads(&self) -> usize {
        match self.threads {
            0 => thread::available_parallelism().map_or(1, usize::from),
            n => n,
        }
    }
}

impl Runner<'_> {
    /// Runs `work` on the functions of `op`, divided among threads. `None` if a single thread has to do it.
    pub(super) fn in_parallel<W: Work>(
        &mut self,
        work: &mut W,
        m: &mut Module,
        op: Op,
        functions: &[Op],
        timer: &mut Timer,
    ) -> Option<Result<(), Failed>> {
        let begin = Instant::now();
        let parts = self.parts(m, op, functions)?;
        let (&own, others) = parts.split_first()?;
        let modules = split_all(m, op, others, &mut self.spare)?;
        others.iter().for_each(|ops| leave_placeholders(m, ops));
        let (how, mut own_timer) = (self.how, timer.blank());
        let mut result = Ok(());
        let outcomes: Vec<ThreadResult<W>> = thread::scope(|scope| {
            let threads: Vec<_> = modules
                .into_iter()
                .map(|part| {
                    let (work, timer) = (work.again(), timer.blank());
                    scope.spawn(move || on_part(how, part, work, timer))
                })
                .collect();
            let start = Instant::now();
            result = work.run(self, m, op, own, &mut own_timer);
            own_timer.add(start.elapsed());
            threads.into_iter().map(|t| t.join().unwrap_or_else(|panic| resume_unwind(panic))).collect()
        });
        let panicked = outcomes.iter().any(|o| o.result == Err(Failed::Panicked)) || result == Err(Failed::Panicked);
        let mut timers = vec![own_timer];
        for outcome in outcomes {
            timers.push(outcome.timer);
            if !panicked {
                self.spare.push(outcome.part.merge(m));
            }
            // On one thread, nothing after this failure would have run.
            if result == Err(Failed::Panicked) || result.is_err() && !W::GOES_ON {
                continue;
            }
            outcome.events.into_iter().for_each(|event| (self.emit)(event));
            self.failures.extend(outcome.failures);
            work.add_counts(&outcome.work);
            result = result.max(outcome.result);
        }
        timer.add_threads(&timers, begin.elapsed());
        Some(result)
    }

    /// Returns the functions per thread, balanced by their sizes at the first division.
    fn parts<'f>(&mut self, m: &Module, op: Op, functions: &'f [Op]) -> Option<Vec<&'f [Op]>> {
        if self.threads < 2 || !are_divisible(m, op, functions) {
            return None;
        }
        if self.sizes.0 != functions {
            self.sizes = (functions.to_vec(), sizes(m, functions));
        }
        parts(functions, &self.sizes.1, self.threads)
    }
}

impl PassContext<'_> {
    /// Transforms functions of `op` one by one, on several threads if that is allowed and pays. `change` must access
    /// only the given function.
    pub fn each_function(&self, m: &mut Module, op: Op, functions: &[Op], change: impl Fn(&mut Module, Op) + Sync) {
        let divisible = self.threads > 1 && are_divisible(m, op, functions);
        let parts = if divisible { parts(functions, &sizes(m, functions), self.threads) } else { None };
        let (own, others) = parts.as_deref().and_then(<[_]>::split_first).unwrap_or((&functions, &[]));
        let Some(modules) = split_all(m, op, others, &mut Vec::new()) else {
            return functions.iter().for_each(|&f| change(m, f));
        };
        others.iter().for_each(|ops| leave_placeholders(m, ops));
        let on_part = |mut part: ModulePart| {
            part.functions().into_iter().for_each(|f| change(&mut part.module, f));
            part
        };
        let modules: Vec<ModulePart> = thread::scope(|scope| {
            let threads: Vec<_> = modules.into_iter().map(|part| scope.spawn(|| on_part(part))).collect();
            own.iter().for_each(|&f| change(m, f));
            threads.into_iter().map(|t| t.join().unwrap_or_else(|panic| resume_unwind(panic))).collect()
        });
        modules.into_iter().for_each(|part| drop(part.merge(m)));
    }
}

/// Whether these are functions in the only block of `op`.
fn are_divisible(m: &Module, op: Op, functions: &[Op]) -> bool {
    let &[region] = m.regions(op) else { return false };
    m.has_one_block(region) && functions.iter().all(|&f| is_function(m, f) && m.parent_op(f) == Some(op))
}

fn sizes(m: &Module, functions: &[Op]) -> Vec<usize> {
    functions.iter().map(|&f| count_ops(m, f)).collect()
}

/// Returns the functions per thread; `None` if one thread suffices.
fn parts<'f>(functions: &'f [Op], sizes: &[usize], threads: usize) -> Option<Vec<&'f [Op]>> {
    let ranges = partition(sizes, threads.min(functions.len()));
    (ranges.len() > 1).then(|| ranges.into_iter().map(|r| &functions[r]).collect())
}

/// Splits off a module per part, on several threads.
fn split_all(m: &Module, op: Op, parts: &[&[Op]], spare: &mut Vec<Module>) -> Option<Vec<ModulePart>> {
    thread::scope(|scope| {
        let split = |ops, spare| scope.spawn(move || ModulePart::split(m, op, ops, spare));
        let threads: Vec<_> = parts.iter().map(|ops| split(*ops, spare.pop())).collect();
        threads.into_iter().map(|t| t.join().unwrap_or_else(|panic| resume_unwind(panic))).collect()
    })
}

fn on_part<W: Work>(how: &RunOptions, mut part: ModulePart, mut work: W, mut timer: Timer) -> ThreadResult<W> {
    let (start, mut events) = (Instant::now(), Vec::new());
    let mut emit = |event| {
        if !matches!(event, PassEvent::Progress { .. }) {
            events.push(event);
        }
    };
    let mut runner = Runner::new(how, &mut emit, None, 1);
    let (functions, root) = (part.functions(), part.module.root());
    let result = work.run(&mut runner, &mut part.module, root, &functions, &mut timer);
    let failures = runner.failures;
    timer.add(start.elapsed());
    ThreadResult { part, work, events, failures, timer, result }
}
