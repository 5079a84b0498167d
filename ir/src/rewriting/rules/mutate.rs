//! Mutation of rules, to test whether rule checking detects faults.

use super::{ArgKind, AttrTerm, Call, CompiledRule, OpTerm, RuleFunction, Term, Var};
use crate::context::Context;
use std::fmt;

/// A rule with one fault.
#[derive(Clone, Debug)]
pub struct Mutant {
    /// The kind of fault.
    pub mistake: Mistake,
    /// A description of the fault.
    pub what: String,
    /// The mutated rule.
    pub rule: CompiledRule,
}

/// A mutation operator: a fault that is likely in a hand-written rule.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Mistake {
    /// Two operands of a non-commutative op, or two arguments of a function, are swapped.
    Swapped,
    /// An attribute or a number is greater by one.
    OneMore,
    /// An attribute is missing.
    Forgotten,
    /// A value, constant or attribute is replaced by another.
    Confused,
    /// A computation calls another function of the same signature.
    Miscomputed,
    /// A condition is missing.
    Unconditional,
}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Mistake::Swapped => "something swapped",
            Mistake::OneMore => "a number one more",
            Mistake::Forgotten => "an attribute forgotten",
            Mistake::Confused => "one variable for another",
            Mistake::Miscomputed => "another computation",
            Mistake::Unconditional => "a condition missing",
        })
    }
}

impl CompiledRule {
    /// Returns all applicable rules that differ from this one by one fault.
    pub fn mutants(&self, ctx: &Context) -> Vec<Mutant> {
        let (mut mutants, known) = (Vec::new(), BoundVars::of(self));
        for number in 0.. {
            let mut rule = self.clone();
            let mut mutator = Mutator { ctx, known: &known, skip: number, made: None };
            rule.roots.iter_mut().for_each(|root| mutator.op(Side::Left, root));
            rule.right.iter_mut().for_each(|term| mutator.term(Side::Right, term));
            rule.computed.iter_mut().for_each(|(_, call)| mutator.call(call));
            let Some((mistake, what)) = mutator.made else { break };
            // Mutants that are no valid rule are dropped.
            mutants.extend(rule.finish().ok().filter(|rule| rule != self).map(|rule| Mutant { mistake, what, rule }));
        }
        for (i, call) in self.conditions.iter().enumerate() {
            let (mistake, rule) = (Mistake::Unconditional, self.without_condition(i).finish());
            let what = format!("without the condition '{}'", call.function.name);
            mutants.extend(rule.ok().map(|rule| Mutant { mistake, what, rule }));
        }
        mutants
    }
}

/// A side of a rule.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Left,
    Right,
}

impl fmt::Display for Side {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if *self == Side::Left { "left" } else { "right" })
    }
}

/// The variables bound by the left side of a rule.
struct BoundVars {
    kinds: Vec<Option<ArgKind>>,
    values: Vec<Var>,
    constants: Vec<Var>,
    others: Vec<Var>,
}

impl BoundVars {
    fn of(rule: &CompiledRule) -> BoundVars {
        let mut known =
            BoundVars { kinds: rule.kinds(), values: Vec::new(), constants: Vec::new(), others: Vec::new() };
        for root in &rule.roots {
            root.for_each_op(&mut |op| {
                known.others.extend(op.others());
                for term in &op.operands {
                    match term {
                        Term::Value { var, .. } => known.values.push(*var),
                        Term::Constant { var, .. } => known.constants.push(*var),
                        _ => {}
                    }
                }
            });
        }
        for list in [&mut known.values, &mut known.constants, &mut known.others] {
            list.sort_unstable();
            list.dedup();
        }
        known
    }
}

/// Returns the element after `var` in a list, cyclically; `None` if there is no other.
fn other(list: &[Var], var: Var) -> Option<Var> {
    let at = list.iter().position(|&known| known == var)?;
    Some(list[(at + 1) % list.len()]).filter(|&other| other != var)
}

/// A traversal that applies the mutation with index `skip`, in a fixed order.
struct Mutator<'a> {
    ctx: &'a Context,
    known: &'a BoundVars,
    skip: usize,
    made: Option<(Mistake, String)>,
}

impl Mutator<'_> {
    /// Whether the current mutation is the one to apply; counts it.
    fn take_turn(&mut self) -> bool {
        if self.made.is_some() {
            return false;
        }
        let now = self.skip == 0;
        self.skip = self.skip.saturating_sub(1);
        now
    }

    fn op(&mut self, side: Side, op: &mut OpTerm) {
        let name = self.ctx.op_name_text(op.name);
        for i in 1..op.operands.len() {
            if !op.commutative && op.operands[i - 1] != op.operands[i] && self.take_turn() {
                op.operands.swap(i - 1, i);
                let what = format!("{side}: operands {} and {i} of '{name}' swapped", i - 1);
                self.made = Some((Mistake::Swapped, what));
            }
        }
        for i in 0..op.attrs.len() {
            self.attr(side, op, i);
        }
        op.operands.iter_mut().for_each(|term| self.term(side, term));
    }

    /// Mutates one attribute.
    fn attr(&mut self, side: Side, op: &mut OpTerm, i: usize) {
        let name = self.ctx.op_name_text(op.name);
        let Some((key, attr)) = op.attrs.get_mut(i) else { return };
        let key = self.ctx.text(*key);
        if let AttrTerm::Is(is) = attr
            && let (Some(value), Some(ty)) = (self.ctx.as_int(*is), self.ctx.attr_type(*is))
            && self.take_turn()
        {
            *is = self.ctx.int_attr(ty, value.wrapping_add(1));
            self.made = Some((Mistake::OneMore, format!("{side}: '{key}' of '{name}' one more")));
        }
        if let AttrTerm::Others(var) = attr
            && side == Side::Right
            && let Some(other) = other(&self.known.others, *var)
            && self.take_turn()
        {
            *var = other;
            self.made = Some((Mistake::Confused, format!("{side}: '{key}' of '{name}' of another op")));
        }
        // On the left side, an attribute bound to a variable matches anything, so only a fixed one is worth dropping.
        if (side == Side::Right || matches!(attr, AttrTerm::Is(_))) && self.take_turn() {
            self.made = Some((Mistake::Forgotten, format!("{side}: '{key}' of '{name}' forgotten")));
            op.attrs.remove(i);
        }
    }

    fn term(&mut self, side: Side, term: &mut Term) {
        match term {
            Term::Op { op, .. } => self.op(side, op),
            Term::Number { value, .. } if self.take_turn() => {
                let what = format!("{side}: {} instead of {value}", *value + 1.0);
                self.made = Some((Mistake::OneMore, what));
                *value += 1.0;
            }
            Term::Value { var, .. } if side == Side::Right => self.confuse("value", var, &self.known.values),
            Term::Constant { var, .. } if side == Side::Right => self.confuse("constant", var, &self.known.constants),
            _ => {}
        }
    }

    fn confuse(&mut self, kind: &str, var: &mut Var, known: &[Var]) {
        if let Some(other) = other(known, *var)
            && self.take_turn()
        {
            self.made = Some((Mistake::Confused, format!("right: {kind} {other} instead of {var}")));
            *var = other;
        }
    }

    fn call(&mut self, call: &mut Call) {
        let name = call.function.name;
        for i in 1..call.args.len() {
            let [a, b] = [call.args[i - 1], call.args[i]];
            if a != b && self.known.kinds[a] == self.known.kinds[b] && self.take_turn() {
                call.args.swap(i - 1, i);
                self.made = Some((Mistake::Swapped, format!("arguments {} and {i} of '{name}' swapped", i - 1)));
            }
        }
        if let Some(other) = self.like(call.function)
            && self.take_turn()
        {
            self.made = Some((Mistake::Miscomputed, format!("'{}' instead of '{name}'", other.name)));
            call.function = other;
        }
    }

    /// Returns the next function of the same signature.
    fn like(&self, function: &RuleFunction) -> Option<&'static RuleFunction> {
        let alike = |other: &&'static RuleFunction| {
            !other.is_test() && other.args == function.args && other.params == function.params
        };
        let all: Vec<&'static RuleFunction> = self.ctx.rule_functions().filter(alike).collect();
        let at = all.iter().position(|other| other.name == function.name)?;
        Some(all[(at + 1) % all.len()]).filter(|other| other.name != function.name)
    }
}
