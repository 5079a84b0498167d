//! Enumeration of all choices of one node per e-class.

use super::function;
use crate::support::parse;
use gradus::egraph::report::{ClassReport, NodeId, Report, TermKind};
use gradus::ir::Context;
use gradus::ir::rules::CostFn;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;

/// Returns the cost of the cheapest acyclic choice, and the number of all choices. `None` above `most`.
pub fn cheapest(ctx: &Arc<Context>, report: &Report, cost_fn: &CostFn, most: u64) -> Option<(u64, u64)> {
    let costs = costs(ctx, report, cost_fn);
    let number = |id: &u32| report.classes.binary_search_by_key(id, |class| class.id).expect("there is such a class");
    let node = |(node, operands): &(NodeId, Vec<u32>)| Node {
        cost: costs.get(node).copied().unwrap_or(0),
        operands: operands.iter().map(number).collect(),
    };
    let classes: Vec<Vec<Node>> = report.classes.iter().map(|class| class.nodes.iter().map(node).collect()).collect();
    let free = free(&classes, |class, i| is_constant(report, &report.classes[class], i));
    let mut all =
        All { picked: vec![None; classes.len()], classes, free, roots: Vec::new(), best: u64::MAX, count: 0, most };
    all.roots = (0..report.classes.len()).filter(|&i| report.classes[i].is_root).collect();
    all.each(all.roots.clone(), 0);
    (all.count <= most).then_some((all.best, all.count))
}

struct Node {
    cost: u64,
    operands: Vec<usize>,
}

struct All {
    classes: Vec<Vec<Node>>,
    /// Classes that are constants or computed only from constants.
    free: Vec<bool>,
    roots: Vec<usize>,
    picked: Vec<Option<usize>>,
    best: u64,
    count: u64,
    most: u64,
}

impl All {
    /// Tries each node of a needed class, then recursively of its operands.
    fn each(&mut self, mut open: Vec<usize>, cost: u64) {
        while let Some(&class) = open.last() {
            if self.picked[class].is_none() && !self.free[class] {
                break;
            }
            open.pop();
        }
        if self.count > self.most {
            return;
        }
        let Some(class) = open.pop() else {
            self.count += 1;
            if cost < self.best && !self.is_cyclic() {
                self.best = cost;
            }
            return;
        };
        for i in 0..self.classes[class].len() {
            self.picked[class] = Some(i);
            let node = &self.classes[class][i];
            let open = [&open[..], &node.operands].concat();
            self.each(open, cost + node.cost);
        }
        self.picked[class] = None;
    }

    /// Whether the choice is cyclic.
    fn is_cyclic(&self) -> bool {
        let mut made: Vec<bool> = self.free.clone();
        let picked = |class: usize| self.picked[class].map(|i| &self.classes[class][i]);
        loop {
            let can = |&class: &usize| {
                !made[class] && picked(class).is_some_and(|node| node.operands.iter().all(|&operand| made[operand]))
            };
            let next: Vec<usize> = (0..made.len()).filter(can).collect();
            if next.is_empty() {
                return self.roots.iter().any(|&root| !made[root]);
            }
            next.into_iter().for_each(|class| made[class] = true);
        }
    }
}

fn is_constant(report: &Report, class: &ClassReport, node: usize) -> bool {
    matches!(report.terms[&class.nodes[node].0].kind, TermKind::Op { constant: true, .. })
}

/// Returns the free classes: constants, and values computed only from constants.
fn free(classes: &[Vec<Node>], is_constant: impl Fn(usize, usize) -> bool) -> Vec<bool> {
    let mut free = vec![false; classes.len()];
    loop {
        let node = |class: usize, i: usize| {
            let operands = &classes[class][i].operands;
            is_constant(class, i) || !operands.is_empty() && operands.iter().all(|&operand| free[operand])
        };
        let new = |&class: &usize| !free[class] && (0..classes[class].len()).any(|i| node(class, i));
        let next: Vec<usize> = (0..classes.len()).filter(new).collect();
        if next.is_empty() {
            return free;
        }
        next.into_iter().for_each(|class| free[class] = true);
    }
}

/// Returns the cost of each node of an op.
fn costs(ctx: &Arc<Context>, report: &Report, cost_fn: &CostFn) -> BTreeMap<NodeId, u64> {
    let (mut args, mut body, mut ops) = (Vec::new(), String::new(), Vec::new());
    for (id, term) in &report.terms {
        let types: Vec<String> = term.operands.iter().map(|operand| report.terms[operand].types.concat()).collect();
        match &term.kind {
            TermKind::Leaf => args.push(format!("%n{id}: {}", term.types[0])),
            TermKind::Op { op, properties, attributes, .. } => {
                let operands: Vec<String> = term.operands.iter().map(|operand| format!("%n{operand}")).collect();
                let (from, to) = (types.join(", "), term.types.join(", "));
                let operands = operands.join(", ");
                let _ =
                    writeln!(body, "%n{id} = \"{op}\"({operands}) <{properties}> {attributes} : ({from}) -> ({to})");
                ops.push(*id);
            }
            TermKind::Result(_) => panic!("no op of these programs has several results"),
        }
    }
    let text = format!("func.func @nodes({}) {{\n{body}return\n}}", args.join(", "));
    let m = parse(ctx, &text).unwrap_or_else(|| panic!("no program\n{text}"));
    let all = m.ops_under(function(&m));
    ops.into_iter().zip(&all[1..]).map(|(id, &op)| (id, cost_fn.of(&m, op).max(1))).collect()
}
