//! Disturbance of a program by one step: another operand, a constant beside it, an attribute drawn anew.
//!
//! A condition of a rewrite is tested best by programs that miss it by little. Each step is undone if the program
//! becomes invalid, or undefined on a sample input.

use crate::function::GrowingFunction;
use crate::scope::{InsertionPoint, Scope};
use crate::variation::{beside, other};
use gradus_ir::{Attr, Op, Traits, Value};

/// Number of attempts at a step.
const TRIES: usize = 3;

/// The change of a step, to undo it.
enum Change {
    Operand(usize, Value),
    Attribute(&'static str, Option<Attr>),
}

impl GrowingFunction<'_, '_> {
    /// Disturbs an op of a block.
    pub(crate) fn disturb(&mut self, place: InsertionPoint) -> bool {
        let m = &self.p.module;
        let ops: Vec<Op> = m.block_ops(place.block).filter(|&op| !m.has_trait(op, Traits::CONSTANT_LIKE)).collect();
        let Some(&last) = ops.last() else { return false };
        for _ in 0..TRIES {
            let op = if self.p.random.percent(25) { last } else { self.p.random.pick(&ops) };
            if self.disturb_op(op, place) {
                return true;
            }
        }
        false
    }

    /// Disturbs one of some ops.
    pub(crate) fn disturb_one(&mut self, ops: &[Op], place: InsertionPoint) {
        let m = &self.p.module;
        let ops: Vec<Op> = ops.iter().copied().filter(|&op| !m.has_trait(op, Traits::CONSTANT_LIKE)).collect();
        if !ops.is_empty() {
            let op = self.p.random.pick(&ops);
            self.disturb_op(op, place);
        }
    }

    fn disturb_op(&mut self, op: Op, place: InsertionPoint) -> bool {
        let change = match self.p.random.percent(30) {
            true => self.disturb_attribute(op),
            false => self.disturb_operand(op, InsertionPoint { block: place.block, before: op }),
        };
        let Some(change) = change else { return false };
        let valid = self.is_valid(op, place.block);
        self.forget();
        if valid && self.is_defined_after(op) {
            return true;
        }
        match change {
            Change::Operand(i, old) => self.module().set_operand(op, i, old),
            Change::Attribute(name, old) => self.module().set_attr(op, name, old),
        }
        self.forget();
        false
    }

    /// Replaces an operand by a constant beside it, or by another value of its type.
    fn disturb_operand(&mut self, op: Op, place: InsertionPoint) -> Option<Change> {
        let count = self.p.module.operands(op).len() as u64;
        let i = (count > 0).then(|| self.p.random.below(count) as usize)?;
        let m = &self.p.module;
        let old = m.operands(op)[i];
        let ty = m.value_type(old);
        let near = m.constant(old).and_then(|attr| beside(&m.ctx, attr, ty, self.p.random));
        let new = match near.filter(|_| self.p.random.percent(70)) {
            Some(attr) => self.constant(attr, ty, place)?,
            None => {
                let mut known = Scope::at(&self.p.module, place, &self.above).of(ty);
                known.retain(|&v| v != old);
                if known.is_empty() {
                    return None;
                }
                self.young(&known)
            }
        };
        self.module().set_operand(op, i, new);
        Some(Change::Operand(i, old))
    }

    /// Gives an attribute another value of its domain, or removes an optional one.
    fn disturb_attribute(&mut self, op: Op) -> Option<Change> {
        let m = &self.p.module;
        let info = m.info(op)?;
        let free = |name: &str| !name.ends_with("egmentSizes") && !name.ends_with("_segments") && name != "callee";
        let specs: Vec<_> = info.attrs.iter().filter(|spec| free(spec.name)).collect();
        let spec = (!specs.is_empty()).then(|| self.p.random.pick(&specs))?;
        let old = m.inherent_attr(op, spec.name);
        let new = match (old, spec.optional && spec.default.is_none() && self.p.random.percent(30)) {
            (Some(_), true) => None,
            (old, _) => Some(other(&m.ctx, &self.p.library.domains, spec.kind, old, self.p.random)?),
        };
        if new == old {
            return None;
        }
        self.module().set_attr(op, spec.name, new);
        Some(Change::Attribute(spec.name, old))
    }
}
