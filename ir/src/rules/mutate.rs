//! Rules that are a little wrong, to see whether checking notices.

use super::{ArgKind, AttrTerm, Compiled, OpTerm, Term};
use crate::context::Context;

/// A rule with one mistake.
#[derive(Clone, Debug)]
pub struct Mutant {
    /// What was done to it.
    pub what: String,
    /// The rule.
    pub rule: Compiled,
}

impl Compiled {
    /// All rules that differ from this one by one mistake: operands swapped where their order matters, an attribute or a
    /// number that is one more, a condition that is missing.
    pub fn mutants(&self, ctx: &Context) -> Vec<Mutant> {
        let mut mutants = Vec::new();
        for number in 0.. {
            let mut rule = self.clone();
            let mut maker = Maker { ctx, skip: number, what: None };
            rule.roots.iter_mut().for_each(|root| maker.op("left", root));
            rule.right.iter_mut().for_each(|term| maker.term("right", term));
            let Some(what) = maker.what else { break };
            // A mistake that makes it no rule at all is none that somebody could make.
            mutants.extend(rule.finish().ok().filter(|rule| rule != self).map(|rule| Mutant { what, rule }));
        }
        for (i, call) in self.conditions.iter().enumerate() {
            let rule = self.without_condition(i).finish();
            let what = format!("without the condition '{}'", call.native.name);
            mutants.extend(rule.ok().map(|rule| Mutant { what, rule }));
        }
        mutants
    }

    /// Whether a condition is about types alone.
    pub fn is_about_types(&self, condition: usize) -> bool {
        let kinds = self.kinds();
        self.conditions[condition].args.iter().all(|&var| kinds[var] == Some(ArgKind::Type))
    }
}

/// Makes the mistake that comes after so many others.
struct Maker<'a> {
    ctx: &'a Context,
    skip: usize,
    what: Option<String>,
}

impl Maker<'_> {
    /// Whether it is this one's turn.
    fn turn(&mut self) -> bool {
        if self.what.is_some() {
            return false;
        }
        let now = self.skip == 0;
        self.skip = self.skip.saturating_sub(1);
        now
    }

    fn op(&mut self, side: &str, op: &mut OpTerm) {
        let name = self.ctx.op_name_text(op.name);
        for i in 1..op.operands.len() {
            if !op.commutative && op.operands[i - 1] != op.operands[i] && self.turn() {
                op.operands.swap(i - 1, i);
                self.what = Some(format!("{side}: operands {} and {i} of '{name}' swapped", i - 1));
            }
        }
        for (key, attr) in &mut op.attrs {
            if let AttrTerm::Is(is) = attr
                && let (Some(value), Some(ty)) = (self.ctx.as_int(*is), self.ctx.attr_type(*is))
                && self.turn()
            {
                *is = self.ctx.int_attr(ty, value.wrapping_add(1));
                self.what = Some(format!("{side}: '{}' of '{name}' one more", self.ctx.text(*key)));
            }
        }
        op.operands.iter_mut().for_each(|term| self.term(side, term));
    }

    fn term(&mut self, side: &str, term: &mut Term) {
        match term {
            Term::Op { op, .. } => self.op(side, op),
            Term::Number { value, .. } if self.turn() => {
                self.what = Some(format!("{side}: {} instead of {value}", *value + 1.0));
                *value += 1.0;
            }
            _ => {}
        }
    }
}
