//! The values of a growing function on the sample inputs.
//!
//! Most ops that may be undefined have no effects and depend only on such ops. They are evaluated alone, which is much
//! faster than running the whole function.

use crate::function::GrowingFunction;
use crate::samples::{SampleValues, draw, evaluate, is_defined};
use gradus_ir::effects::is_speculatable;
use gradus_ir::eval::Datum;
use gradus_ir::{DYNAMIC, Effects, Module, Op, Traits, Value};
use rustc_hash::FxHashSet;

/// Maximum number of ops that are followed from a changed one.
const MAX_USERS: usize = 200;

/// Whether an op and all that depend on its results are defined for all operands, and their results have static shapes.
fn cannot_fail(m: &Module, op: Op) -> bool {
    let mut open = vec![op];
    let mut seen = FxHashSet::default();
    while let Some(op) = open.pop() {
        let is_static = |v: Value| m.ctx.shape(m.value_type(v)).is_none_or(|shape| !shape.contains(&DYNAMIC));
        let fails = !is_speculatable(m, op) || !m.regions(op).is_empty() || !m.results(op).all(is_static);
        let returns = || m.parent_op(op).is_some_and(|around| m.has_trait(around, Traits::FUNCTION));
        if fails && !(m.has_trait(op, Traits::RETURN_LIKE) && returns()) || seen.len() > MAX_USERS {
            return false;
        }
        let users = m.results(op).flat_map(|v| m.uses(v)).map(|(user, _)| user);
        open.extend(users.filter(|&user| seen.insert(user)));
    }
    true
}

impl GrowingFunction<'_, '_> {
    /// Whether the function returns on all sample inputs.
    pub(crate) fn is_defined(&mut self) -> bool {
        !self.checked
            || (self.draw_inputs().is_some() && is_defined(&self.p.module, self.function, &self.samples.inputs))
    }

    /// Whether the function returns on all sample inputs, given that only operands or attributes of `op` changed. Does not
    /// run it if neither `op` nor what depends on it can fail, or make more elements.
    pub(crate) fn is_defined_after(&mut self, op: Op) -> bool {
        !self.checked || cannot_fail(&self.p.module, op) || self.is_defined()
    }

    /// Whether the function returns on all sample inputs, given that only `op` is new. Evaluates `op` alone if it and
    /// its operands have no effects.
    pub(crate) fn is_defined_with(&mut self, op: Op) -> bool {
        !self.checked || (self.draw_inputs().is_some() && self.compute(op).is_some()) || self.is_defined()
    }

    /// Evaluates an op and its operands on each sample input.
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
        let (m, values) = (&self.p.module, &self.samples.values);
        let on = |number: usize| {
            let operands: Option<Vec<Datum>> =
                m.operands(op).iter().map(|v| Some(values.get(v)?[number].clone())).collect();
            evaluate(m, op, &operands?)
        };
        let runs: Vec<Vec<Datum>> = (0..self.samples.inputs.len()).map(on).collect::<Option<_>>()?;
        let result = |i: usize| runs.iter().map(|results| results.get(i).cloned()).collect::<Option<_>>();
        (0..m.num_results(op)).map(result).collect()
    }

    /// Evaluates a value and caches the result.
    fn learn(&mut self, value: Value) -> Option<()> {
        if self.samples.values.contains_key(&value) {
            return Some(());
        }
        let m = &self.p.module;
        let Some(op) = m.defining_op(value) else {
            let entry = m.entry(m.regions(self.function)[0])?;
            let at = m.block_args(entry).iter().position(|&arg| arg == value)?;
            let on = self.samples.inputs.iter().map(|input| input.args[at].clone()).collect();
            self.samples.values.insert(value, on);
            return Some(());
        };
        let results = self.compute(op)?;
        self.samples.values.extend(self.p.module.results(op).zip(results));
        Some(())
    }

    /// Clears the cache after operands changed.
    pub(crate) fn forget(&mut self) {
        self.samples.values.clear();
    }

    /// Draws the sample inputs once.
    fn draw_inputs(&mut self) -> Option<()> {
        let m = &self.p.module;
        let args = m.block_args(m.entry(m.regions(self.function)[0])?).len();
        let now = (args, self.p.num_symbols());
        if self.samples.inputs.is_empty() || self.samples.drawn_for != now {
            self.samples = SampleValues {
                drawn_for: now,
                inputs: draw(m, self.function, self.inputs)?,
                ..SampleValues::default()
            };
        }
        Some(())
    }
}
