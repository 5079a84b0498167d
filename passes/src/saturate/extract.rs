//! Which node of each class the program is made of: the cheapest, where what is shared counts once.

use super::cost::CostModel;
use super::graph::{Graph, Key, Node};
use super::program::Program;
use egg::Id;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::VecDeque;

/// The numbers of the chosen nodes in their classes.
pub type Choice = FxHashMap<Id, usize>;

/// Changing one choice after the other stops after so many rounds, and when so many nodes were looked at.
const MAX_ROUNDS: usize = 10;
const MAX_LOOKED_AT: u64 = 20_000_000;

/// The cheapest nodes that were found from which the roots can be made, and what they cost.
pub fn extract(program: &Program<'_>, model: &CostModel, roots: &[Id]) -> (Choice, u64) {
    let costs = Costs { program, model };
    let mut dag = Dag {
        graph: &program.graph,
        costs: &costs,
        choice: trees(&program.graph, &costs),
        uses: FxHashMap::default(),
        cost: 0,
        looked_at: 0,
    };
    roots.iter().for_each(|&root| dag.acquire(root));
    for _ in 0..MAX_ROUNDS {
        if !dag.improve() {
            break;
        }
    }
    (dag.choice, dag.cost)
}

struct Costs<'p, 'm> {
    program: &'p Program<'m>,
    model: &'p CostModel,
}

impl Costs<'_, '_> {
    fn of(&self, node: &Node) -> u64 {
        match (node.key, node.op) {
            (Key::Op { .. }, Some(op)) => op_cost(self.program.m, self.model, op),
            _ => 0,
        }
    }
}

/// What an op costs; constants nothing.
pub fn op_cost(m: &gradus_ir::Module, model: &CostModel, op: gradus_ir::Op) -> u64 {
    let constant = m.operands(op).is_empty() && m.num_results(op) == 1 && m.constant(m.result(op, 0)).is_some();
    if constant { 0 } else { (model.cost)(m, op).max(1) }
}

/// The cheapest node of each class, where what is shared counts as often as it is used. Costs grow from nodes to those
/// that use them, so that no node is made of itself.
fn trees(graph: &Graph, costs: &Costs<'_, '_>) -> Choice {
    let mut best: FxHashMap<Id, (u64, usize)> = FxHashMap::default();
    let mut ids: Vec<Id> = graph.classes().map(|class| class.id).collect();
    ids.sort_unstable();
    let mut waiting: FxHashSet<Id> = ids.iter().copied().collect();
    let mut queue: VecDeque<Id> = ids.into();
    while let Some(id) = queue.pop_front() {
        waiting.remove(&id);
        let total = |node: &Node| {
            let sum = |sum: u64, child: &Id| Some(sum.saturating_add(best.get(&graph.find(*child))?.0));
            // Even what costs nothing is more than what it is made of.
            node.children.iter().try_fold(costs.of(node).saturating_mul(1 << 10).saturating_add(1), sum)
        };
        let cheapest = graph[id].iter().enumerate().filter_map(|(i, node)| Some((total(node)?, i))).min();
        let Some(cheapest) = cheapest.filter(|new| best.get(&id).is_none_or(|old| new.0 < old.0)) else { continue };
        best.insert(id, cheapest);
        for parent in graph[id].parents().map(|parent| graph.find(parent)) {
            if waiting.insert(parent) {
                queue.push_back(parent);
            }
        }
    }
    best.into_iter().map(|(id, (_, node))| (id, node)).collect()
}

/// The chosen nodes that are used.
struct Dag<'p, 'm> {
    graph: &'p Graph,
    costs: &'p Costs<'p, 'm>,
    choice: Choice,
    /// How often each class is used.
    uses: FxHashMap<Id, u32>,
    cost: u64,
    looked_at: u64,
}

impl<'p> Dag<'p, '_> {
    fn node(&self, id: Id) -> &'p Node {
        &self.graph[id].nodes[self.choice[&id]]
    }

    /// One more use of a class.
    fn acquire(&mut self, id: Id) {
        let mut stack = vec![self.graph.find(id)];
        while let Some(id) = stack.pop() {
            let uses = self.uses.entry(id).or_insert(0);
            *uses += 1;
            if *uses == 1 {
                let node = self.node(id);
                self.cost += self.costs.of(node);
                stack.extend(node.children.iter().map(|&child| self.graph.find(child)));
            }
        }
    }

    /// One use less.
    fn release(&mut self, id: Id) {
        let mut stack = vec![self.graph.find(id)];
        while let Some(id) = stack.pop() {
            let uses = self.uses.get_mut(&id).expect("is used");
            *uses -= 1;
            if *uses == 0 {
                let node = self.node(id);
                self.cost -= self.costs.of(node);
                stack.extend(node.children.iter().map(|&child| self.graph.find(child)));
            }
        }
    }

    /// Whether a class would be made of itself if it were this node.
    fn is_cyclic(&mut self, id: Id, node: &Node) -> bool {
        let mut seen = FxHashSet::default();
        let mut stack: Vec<Id> = node.children.iter().map(|&child| self.graph.find(child)).collect();
        while let Some(at) = stack.pop() {
            if at == id {
                return true;
            }
            self.looked_at += 1;
            if seen.insert(at) {
                stack.extend(self.node(at).children.iter().map(|&child| self.graph.find(child)));
            }
        }
        false
    }

    /// Chooses another node of a class wherever the whole becomes cheaper. Says whether it did anywhere.
    fn improve(&mut self) -> bool {
        let mut ids: Vec<Id> = self.uses.iter().filter(|(_, uses)| **uses > 0).map(|(&id, _)| id).collect();
        ids.sort_unstable();
        let before = self.cost;
        for id in ids {
            for other in 0..self.graph[id].nodes.len() {
                if self.uses[&id] > 0 && other != self.choice[&id] && self.looked_at < MAX_LOOKED_AT {
                    self.attempt(id, other);
                }
            }
        }
        self.cost < before
    }

    /// Chooses another node if that is cheaper.
    fn attempt(&mut self, id: Id, other: usize) {
        let (old, new) = (self.choice[&id], &self.graph[id].nodes[other]);
        let known = |child: &Id| self.choice.contains_key(&self.graph.find(*child));
        if !new.children.iter().all(known) || self.is_cyclic(id, new) {
            return;
        }
        let before = self.cost;
        self.switch(id, other);
        if self.cost >= before {
            self.switch(id, old);
        }
    }

    fn switch(&mut self, id: Id, to: usize) {
        let (old, new) = (self.node(id), &self.graph[id].nodes[to]);
        self.cost = self.cost - self.costs.of(old) + self.costs.of(new);
        self.choice.insert(id, to);
        new.children.iter().for_each(|&child| self.acquire(child));
        old.children.iter().for_each(|&child| self.release(child));
    }
}
