//! Transformed functions, run on inputs of the original.

use crate::input::Input;
use crate::options::Options;
use crate::outcome::{Outcome, Runner};
use crate::signature::function_parts;
use crate::translation::Translation;
use gradus_interp::IterationOrder;
use gradus_ir::{Module, Op};
use std::sync::atomic::AtomicBool;

/// A transformed function. It runs on inputs of the original, and its outcomes are read as those of the original.
pub(crate) struct Transformed<'m> {
    m: &'m Module,
    op: Op,
    runner: Runner<'m>,
    /// The relation of the types; `None` if both functions have the same type.
    translation: Option<Translation>,
}

impl<'m> Transformed<'m> {
    /// Creates a runner. The error names types that nothing relates.
    pub(crate) fn new(
        (m, old): (&'m Module, Op),
        (after, new): (&'m Module, Op),
        options: &Options,
    ) -> Result<Transformed<'m>, String> {
        let (old, types) = (function_parts(m, old), function_parts(after, new));
        let translation = if old == types { None } else { Some(Translation::new(&m.ctx, old, types)?) };
        let runner = Runner::new(after, options).with_calls_of(m);
        Ok(Transformed { m: after, op: new, runner, translation })
    }

    /// Sets a flag when numbers leave the range of their type.
    pub(crate) fn noticing_range(mut self, flag: &'m AtomicBool) -> Self {
        self.runner = self.runner.noticing_range(flag);
        self
    }

    /// Sets the order of the iterations of parallel loops.
    pub(crate) fn in_order(&mut self, order: IterationOrder) -> &mut Self {
        self.runner.in_order(order);
        self
    }

    /// Whether it has values for the results of the original.
    pub(crate) fn has_values(&self, before: &Outcome) -> bool {
        match (&self.translation, before) {
            (Some(translation), Outcome::Returned { results, .. }) => translation.has_values(&self.m.ctx, results),
            _ => true,
        }
    }

    /// Runs on an input of the original; `None` if the transformed function has no values for it.
    pub(crate) fn run(&mut self, input: &Input) -> Option<Outcome> {
        let Some(translation) = &self.translation else { return Some(self.runner.run(self.op, input)) };
        let ctx = &self.m.ctx;
        let lowered = translation.input(ctx, input)?;
        let mut outcome = self.runner.run(self.op, &lowered);
        if let Outcome::Returned { results, buffers, .. } = &mut outcome {
            *results = translation.results_of(ctx, results, buffers, &lowered);
            buffers.truncate(input.buffers.len());
        }
        Some(outcome)
    }
}
