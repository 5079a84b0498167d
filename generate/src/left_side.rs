//! Insertion of left sides of rewrite rules, so that rules apply.

use crate::function::{GrowingFunction, draw_constant};
use crate::scope::InsertionPoint;
use gradus_ir::effects::is_speculatable;
use gradus_ir::rules::{Chooser, OpSignature};
use gradus_ir::{Attr, Module, Op, OpName, Type, Value};

/// Percentage of left sides that are disturbed by one step.
const NEAR_MISSES: u64 = 35;

impl GrowingFunction<'_, '_> {
    /// Inserts ops that match the left side of a rule, if its conditions hold.
    pub(crate) fn left_side(&mut self, place: InsertionPoint) -> bool {
        let library = self.p.library;
        if library.rules.is_empty() {
            return false;
        }
        let rule = self.p.random.pick(&library.rules);
        let first = self.p.module.prev_op(place.before);
        let roots = library.ctx.build_left_side(rule, place.before, &mut Leaves { growing: self, place });
        let m = &self.p.module;
        let made: Vec<Op> = std::iter::successors(m.prev_op(place.before), |&op| m.prev_op(op))
            .take_while(|&op| Some(op) != first)
            .collect();
        let safe = made.iter().all(|&op| is_speculatable(m, op));
        // Without roots, the ops made until then may not fit either.
        let roots = roots.filter(|_| self.fits(place.block));
        if roots.is_some_and(|roots| safe || roots.iter().all(|&root| self.is_defined_with(root))) {
            if self.p.random.percent(NEAR_MISSES) {
                self.disturb_one(&made, place);
            }
            return true;
        }
        self.forget();
        made.into_iter().for_each(|op| {
            if self.p.module.results(op).all(|v| self.p.module.is_unused(v)) {
                self.module().erase_op(op);
            }
        });
        false
    }
}

/// The choice of the parts that a rule leaves open, in a growing function.
struct Leaves<'g, 'p, 'a> {
    growing: &'g mut GrowingFunction<'p, 'a>,
    place: InsertionPoint,
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

    fn constant(&mut self, ty: Type, _: Option<Type>) -> Option<Attr> {
        draw_constant(&self.growing.p.library.ctx, ty, self.growing.p.random)
    }

    fn coin(&mut self) -> bool {
        self.growing.p.random.percent(50)
    }

    fn signature(&mut self, op: OpName, results: &[Option<Type>], operands: &[Option<Type>]) -> Option<OpSignature> {
        let library = self.growing.p.library;
        let all = self.growing.p.parts_of(op).iter().map(|&number| {
            let part = &library.parts[number];
            (&library.sources[part.source], part.op)
        });
        let fits = |&(m, op): &(&Module, Op)| {
            agree(m, m.results(op), results) && agree(m, m.operands(op).iter().copied(), operands)
        };
        let fitting: Vec<(&Module, Op)> = all.filter(fits).collect();
        let (m, op) = (!fitting.is_empty()).then(|| self.growing.p.random.pick(&fitting))?;
        let operands = m.operands(op).iter().map(|&v| m.value_type(v)).collect();
        let results = m.results(op).map(|v| m.value_type(v)).collect();
        Some(OpSignature { operands, results, props: m.props(op) })
    }
}

/// Whether the types of values agree with those that are given.
fn agree(m: &Module, values: impl ExactSizeIterator<Item = Value>, given: &[Option<Type>]) -> bool {
    values.len() == given.len() && values.zip(given).all(|(v, ty)| ty.is_none_or(|ty| ty == m.value_type(v)))
}
