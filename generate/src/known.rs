//! What the values of a growing function are on a few inputs.
//!
//! Most ops that may be undefined only compute, of values that only computing made: those are looked at alone, which is
//! much quicker than running the whole function.

use crate::function::{FUEL, Growing};
use gradus_check::{Input, Inputs, Options, Outcome, Random, Runner};
use gradus_ir::eval::{Datum, eval_op};
use gradus_ir::{Effects, Module, Op, Value};
use rustc_hash::FxHashMap;

/// Inputs of a function, and values that depend on them alone.
#[derive(Default)]
pub(crate) struct Known {
    /// How many arguments and symbols there were when the inputs were drawn.
    drawn_for: (usize, usize),
    inputs: Vec<Input>,
    /// What values are on each input.
    values: FxHashMap<Value, Box<[Datum]>>,
}

/// So many inputs of a function without poison, the same for the same types.
pub(crate) fn draw(m: &Module, function: Op, count: u64) -> Option<Vec<Input>> {
    let drawn = Inputs::of(m, function)?.without_poison();
    (0..count).map(|number| drawn.draw(&mut Random::of(("grow", number))).ok()).collect()
}

/// Whether a function comes to its end on the inputs.
pub(crate) fn is_defined(m: &Module, function: Op, inputs: &[Input]) -> bool {
    let mut runner = Runner::new(m, &Options { fuel: FUEL, ..Options::default() });
    let ends = |input| matches!(runner.run(function, input), Outcome::Returned { .. } | Outcome::Aborted(..));
    inputs.iter().all(ends)
}

impl Growing<'_, '_> {
    /// Whether the function comes to its end on the inputs.
    pub(crate) fn is_defined(&mut self) -> bool {
        !self.checked || (self.draw_inputs().is_some() && is_defined(&self.p.module, self.function, &self.known.inputs))
    }

    /// The same, where all that is new is an op: if that only computes, and so did what made its operands, it is run alone.
    pub(crate) fn is_defined_with(&mut self, op: Op) -> bool {
        !self.checked || (self.draw_inputs().is_some() && self.compute(op).is_some()) || self.is_defined()
    }

    /// What an op and those that made its operands compute, on each input.
    fn compute(&mut self, op: Op) -> Option<Vec<Box<[Datum]>>> {
        let m = &self.p.module;
        let info = m.info(op)?;
        if info.exec.is_some() || info.eval.is_none() || info.effects != Effects::Pure || !m.regions(op).is_empty() {
            return None;
        }
        for i in 0..self.p.module.operands(op).len() {
            let operand = self.p.module.operands(op)[i];
            self.learn(operand)?;
        }
        let (m, values) = (&self.p.module, &self.known.values);
        let on = |number: usize| {
            let operands: Option<Vec<Datum>> =
                m.operands(op).iter().map(|v| Some(values.get(v)?[number].clone())).collect();
            m.with_args(op, |args| eval_op(args, &operands?).ok())?
        };
        let runs: Vec<Vec<Datum>> = (0..self.known.inputs.len()).map(on).collect::<Option<_>>()?;
        let result = |i: usize| runs.iter().map(|results| results.get(i).cloned()).collect::<Option<_>>();
        (0..m.num_results(op)).map(result).collect()
    }

    /// Finds out what a value is.
    fn learn(&mut self, value: Value) -> Option<()> {
        if self.known.values.contains_key(&value) {
            return Some(());
        }
        let m = &self.p.module;
        let Some(op) = m.defining_op(value) else {
            let entry = m.entry(m.regions(self.function)[0])?;
            let at = m.block_args(entry).iter().position(|&arg| arg == value)?;
            let on = self.known.inputs.iter().map(|input| input.args[at].clone()).collect();
            self.known.values.insert(value, on);
            return Some(());
        };
        let results = self.compute(op)?;
        self.known.values.extend(self.p.module.results(op).zip(results));
        Some(())
    }

    /// Forgets values, since operands have changed.
    pub(crate) fn forget(&mut self) {
        self.known.values.clear();
    }

    /// Draws the inputs, unless that was done.
    fn draw_inputs(&mut self) -> Option<()> {
        let m = &self.p.module;
        let args = m.block_args(m.entry(m.regions(self.function)[0])?).len();
        let now = (args, self.p.num_symbols());
        if self.known.inputs.is_empty() || self.known.drawn_for != now {
            self.known = Known { drawn_for: now, inputs: draw(m, self.function, self.inputs)?, ..Known::default() };
        }
        Some(())
    }
}
