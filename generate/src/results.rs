//! Choice of function results.

use crate::function::GrowingFunction;
use crate::samples::{draw, options};
use crate::scope::{InsertionPoint, Scope};
use gradus_check::{Outcome, Runner};
use gradus_ir::{Block, Op, Type, Value};

/// Maximum number of results of a function.
const MAX_RESULTS: usize = 16;

impl GrowingFunction<'_, '_> {
    /// Returns, besides what the function returns, some of the values available at its end that are not poison on all
    /// sample inputs. A function with several returns is left as it is.
    pub(crate) fn choose_results(&mut self) {
        let m = &self.p.module;
        let Some(&region) = m.regions(self.function).first() else { return };
        let ends = |b: &Block| m.terminator(*b).is_some_and(|t| m.successors(t).is_empty());
        let all: Vec<Block> = m.region_blocks(region).filter(ends).collect();
        let [block] = all[..] else { return };
        let Some(end) = m.terminator(block) else { return };
        let place = InsertionPoint { block, before: end };
        let scope = Scope::at(m, place, &self.above);
        let unused = |v: Value| m.is_unused(v) && m.defining_op(v).is_some() && m.constant(v).is_none();
        let returned: Vec<(Type, Value)> = m.operands(end).iter().map(|&v| (m.value_type(v), v)).collect();
        let mut chosen: Vec<(Type, Value)> = scope.all().iter().copied().filter(|(_, v)| unused(*v)).collect();
        let wanted = MAX_RESULTS - self.p.random.below(MAX_RESULTS as u64 / 2) as usize;
        self.give_results(end, &[&returned[..], &chosen].concat());
        if !self.p.keeps_poison && self.checked {
            let clean = self.clean_results(returned.len() + chosen.len()).split_off(returned.len());
            chosen = chosen.into_iter().zip(clean).filter(|(_, clean)| *clean).map(|(value, _)| value).collect();
        }
        while chosen.len() > wanted {
            let at = self.p.random.below(chosen.len() as u64) as usize;
            chosen.swap_remove(at);
        }
        self.give_results(end, &[returned, chosen].concat());
    }

    fn give_results(&mut self, end: Op, values: &[(Type, Value)]) {
        let operands: Vec<Value> = values.iter().map(|(_, v)| *v).collect();
        self.module().set_operands(end, &operands);
        let types: Vec<Type> = values.iter().map(|(ty, _)| *ty).collect();
        self.set_type(Some(&types));
    }

    /// Whether each of the results is free of poison on all sample inputs.
    fn clean_results(&mut self, count: usize) -> Vec<bool> {
        let m = &self.p.module;
        let mut clean = vec![true; count];
        let Some(inputs) = draw(m, self.function, self.inputs) else { return clean };
        let mut runner = Runner::new(m, &options());
        for input in &inputs {
            if let Outcome::Returned { results, .. } = runner.run(self.function, input) {
                clean.iter_mut().zip(&results).for_each(|(clean, seen)| *clean &= !seen.is_poison());
            }
        }
        clean
    }
}
