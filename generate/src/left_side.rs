//! Left sides of rewrite rules, so that the rules happen.

use crate::function::{Growing, draw_constant};
use crate::scope::Place;
use gradus_ir::effects::is_speculatable;
use gradus_ir::rules::{Chooser, Signature};
use gradus_ir::{Attr, Module, Op, OpName, Type, Value};

impl Growing<'_, '_> {
    /// Adds what the left side of a rule matches, if its conditions hold.
    pub(crate) fn left_side(&mut self, place: Place) -> bool {
        let library = self.p.library;
        if library.rules.is_empty() {
            return false;
        }
        let rule = self.p.random.pick(&library.rules);
        let first = self.p.module.prev_op(place.before);
        let Some(root) = library.ctx.build_left_side(rule, place.before, &mut Leaves { growing: self, place }) else {
            return false;
        };
        let m = &self.p.module;
        let made: Vec<Op> = std::iter::successors(m.prev_op(place.before), |&op| m.prev_op(op))
            .take_while(|&op| Some(op) != first)
            .collect();
        let safe = made.iter().all(|&op| is_speculatable(m, op));
        if safe || m.defining_op(root).is_some_and(|op| self.is_defined_with(op)) {
            return true;
        }
        self.forget();
        made.into_iter().for_each(|op| {
            if self.p.module.results(op).all(|v| self.p.module.is_unused(v)) {
                self.module().erase_op(op)
            }
        });
        false
    }
}

/// What rules leave open is chosen here.
struct Leaves<'g, 'p, 'a> {
    growing: &'g mut Growing<'p, 'a>,
    place: Place,
}

impl Chooser for Leaves<'_, '_, '_> {
    fn module(&self) -> &Module {
        &self.growing.p.module
    }

    fn module_mut(&mut self) -> &mut Module {
        &mut self.growing.p.module
    }

    fn value(&mut self, ty: Type) -> Option<Value> {
        self.growing.supply_variable(ty, self.place)
    }

    fn constant(&mut self, ty: Type) -> Option<Attr> {
        draw_constant(&self.growing.p.library.ctx, ty, self.growing.p.random)
    }

    fn signature(&mut self, op: OpName, result: Option<Type>, operands: &[Option<Type>]) -> Option<Signature> {
        let library = self.growing.p.library;
        let signature = |number: usize| {
            let part = &library.parts[number];
            let m = &library.sources[part.source];
            let types = m.operands(part.op).iter().map(|&v| m.value_type(v)).collect();
            let single = (m.num_results(part.op) == 1).then(|| m.result(part.op, 0))?;
            Some(Signature { operands: types, result: m.value_type(single), props: m.props(part.op) })
        };
        let fits = |s: &Signature| {
            let same = |(ty, known): (&Type, &Option<Type>)| known.is_none_or(|known| known == *ty);
            result.is_none_or(|ty| ty == s.result)
                && s.operands.len() == operands.len()
                && s.operands.iter().zip(operands).all(same)
        };
        let mut all: Vec<Signature> =
            self.growing.p.parts_of(op).iter().filter_map(|&n| signature(n)).filter(fits).collect();
        if all.is_empty() {
            return None;
        }
        let at = self.growing.p.random.below(all.len() as u64) as usize;
        Some(all.swap_remove(at))
    }
}
