//! Enumeration of all programs that rules produce, each applied or not at each op.

use super::function;
use gradus::ir::rules::CostFn;
use gradus::ir::rules::{CompiledRule, apply_at};
use gradus::ir::{Attr, Module, Op, OpName, Traits, Type, Value};
use std::collections::{BTreeMap, BTreeSet};

/// Returns the cost of the cheapest program, and the number of programs. `None` above `most`.
pub fn cheapest(m: &Module, cost_fn: &CostFn, groups: &[&str], most: u64) -> Option<(u64, u64)> {
    let asked = m.ctx.rule_groups().filter(|(group, _)| groups.contains(&group.name));
    let rules = asked.flat_map(|(_, rules)| rules.iter().cloned()).collect();
    let mut all = All { cost_fn, rules, best: u64::MAX, count: 0, most };
    all.each(m, body(m));
    (all.count <= most).then_some((all.best, all.count))
}

struct All<'a> {
    cost_fn: &'a CostFn,
    rules: Vec<CompiledRule>,
    best: u64,
    count: u64,
    most: u64,
}

impl All<'_> {
    /// Branches on the rules at each op; new ops are visited next.
    fn each(&mut self, m: &Module, mut open: Vec<Op>) {
        if self.count > self.most {
            return;
        }
        let Some(op) = open.pop() else {
            self.count += 1;
            self.best = self.best.min(price(m, function(m), self.cost_fn));
            return;
        };
        for rule in 0..self.rules.len() {
            for swap in [false, true] {
                let Some(after) = self.applied(m, rule, op, swap) else { continue };
                let before: BTreeSet<Op> = body(m).into_iter().filter(|&other| other != op).collect();
                let mut open = open.clone();
                open.extend(body(&after).into_iter().filter(|new| !before.contains(new)));
                self.each(&after, open);
            }
        }
        self.each(m, open);
    }

    fn applied(&self, m: &Module, rule: usize, op: Op, swap: bool) -> Option<Module> {
        let rule = &self.rules[rule];
        let operands: Vec<Value> = m.operands(op).iter().rev().copied().collect();
        let swaps = m.has_trait(op, Traits::COMMUTATIVE) && operands.len() == 2 && operands[0] != operands[1];
        if m.name(op) != rule.roots[0].name || swap && !swaps {
            return None;
        }
        let mut after = m.clone();
        if swap {
            after.set_operands(op, &operands);
        }
        apply_at(&mut after, rule, op).then_some(after)
    }
}

/// Returns the ops of the function, in order.
fn body(m: &Module) -> Vec<Op> {
    let mut ops = m.ops_under(function(m));
    ops.retain(|&op| op != function(m));
    ops
}

/// The identity of an op: name, attributes, operand numbers, and types.
type Shape = (OpName, Attr, Vec<usize>, Vec<Type>);

/// Returns the total cost of the live ops, where equal ops count once and constant ones are free.
pub fn price(m: &Module, function: Op, cost_fn: &CostFn) -> u64 {
    let ops = body(m);
    let Some((&end, ops)) = ops.split_last() else { return 0 };
    let mut needed: BTreeSet<Value> = m.operands(end).iter().copied().collect();
    for &op in ops.iter().rev().filter(|&&op| m.num_results(op) == 1) {
        if needed.contains(&m.result(op, 0)) {
            needed.extend(m.operands(op));
        }
    }
    let args = m.block_args(m.entry(m.regions(function)[0]).expect("it has a body"));
    let mut numbers: BTreeMap<Value, (usize, bool)> =
        args.iter().enumerate().map(|(i, &arg)| (arg, (i, false))).collect();
    let (mut seen, mut sum): (BTreeMap<Shape, usize>, u64) = Default::default();
    for &op in ops.iter().filter(|&&op| needed.contains(&m.result(op, 0))) {
        let operands: Vec<(usize, bool)> = m.operands(op).iter().map(|v| numbers[v]).collect();
        let is_constant = m.constant(m.result(op, 0)).is_some();
        let fixed = is_constant || !operands.is_empty() && operands.iter().all(|(_, fixed)| *fixed);
        let mut children: Vec<usize> = operands.iter().map(|(number, _)| *number).collect();
        if m.has_trait(op, Traits::COMMUTATIVE) {
            children.sort_unstable();
        }
        let types = m.results(op).map(|v| m.value_type(v)).collect();
        let next = args.len() + seen.len();
        let number = *seen.entry((m.name(op), m.props(op), children, types)).or_insert(next);
        sum += if number == next && !fixed { cost_fn.of(m, op).max(1) } else { 0 };
        numbers.insert(m.result(op, 0), (number, fixed));
    }
    sum
}
