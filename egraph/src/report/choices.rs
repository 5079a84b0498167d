//! Alternatives to the extracted nodes, with their costs.

use super::{Candidate, Choice as Choices, Whole, node_id};
use crate::by_class::{ByClass, Classes};
use crate::extract::Choice;
use crate::graph::Node;
use crate::program::Program;
use egg::Id;
use rustc_hash::FxHashSet;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Maximum number of listed nodes per class.
const MAX_CANDIDATES: usize = 12;

/// Maximum number of nodes visited to cost candidates.
const MAX_LOOKED_AT: usize = 4_000_000;

/// An extraction, with the data to cost alternatives.
pub struct Chosen<'c, 'm> {
    /// The program.
    pub program: &'c Program<'m>,
    /// The chosen nodes; classes that are not needed have a node to be chosen if they were.
    pub choice: &'c Choice,
    /// The cost of a node.
    pub cost: &'c dyn Fn(&Node) -> u64,
    /// The classes that are needed.
    pub roots: &'c [Id],
    /// Number of visited nodes.
    pub looked_at: usize,
}

/// Extends a choice to all other classes, by the nodes that are cheapest to add.
pub fn fill(program: &Program<'_>, choice: &Choice, cost: &dyn Fn(&Node) -> u64) -> Choice {
    let graph = &program.graph;
    let mut whole = choice.clone();
    let mut totals: ByClass<u64> = ByClass::new(graph);
    let chosen = graph.classes().filter(|class| choice.has(class.id));
    chosen.for_each(|class| _ = totals.set(class.id, Some(0)));
    let offer = |class: Id, totals: &ByClass<u64>, queue: &mut BinaryHeap<_>| {
        let sum = |sum: u64, child: &Id| Some(sum.saturating_add(totals.get(graph.find(*child))?));
        let total = |node: &Node| node.children.iter().try_fold(cost(node), sum);
        let all = graph[class].iter().enumerate().filter_map(|(i, node)| Some((total(node)?, i)));
        queue.extend(all.min().filter(|_| !totals.has(class)).map(|(total, i)| Reverse((total, class, i))));
    };
    let mut queue = BinaryHeap::new();
    let mut classes: Vec<Id> = graph.classes().map(|class| class.id).collect();
    classes.sort_unstable();
    classes.iter().for_each(|&class| offer(class, &totals, &mut queue));
    while let Some(Reverse((total, class, i))) = queue.pop() {
        if totals.has(class) {
            continue;
        }
        totals.set(class, Some(total));
        whole.set(class, Some(i as u32));
        graph[class].parents().for_each(|user| offer(graph.find(user), &totals, &mut queue));
    }
    whole
}

impl Chosen<'_, '_> {
    fn node(&self, class: Id) -> Option<&Node> {
        Some(&self.program.graph[class].nodes[self.choice.get(class)? as usize])
    }

    fn children(&self, node: &Node) -> Vec<Id> {
        node.children.iter().map(|&child| self.program.graph.find(child)).collect()
    }

    /// Returns the needed classes, operands before users.
    pub fn needed(&self) -> Vec<Id> {
        let (mut seen, mut order) = (Classes::new(&self.program.graph), Vec::new());
        let mut stack: Vec<(Id, bool)> =
            self.roots.iter().rev().map(|&root| (self.program.graph.find(root), false)).collect();
        while let Some((class, done)) = stack.pop() {
            if done {
                order.push(class);
            } else if let Some(node) = self.node(class).filter(|_| seen.add(class)) {
                stack.push((class, true));
                stack.extend(self.children(node).into_iter().rev().map(|child| (child, false)));
            }
        }
        order
    }

    /// Returns the cost of everything that some classes need, with another node in class `at`. `None` if that is cyclic
    /// or impossible.
    fn total(&mut self, from: &[Id], at: Id, other: &Node) -> Option<u64> {
        let mut seen = FxHashSet::default();
        let (mut stack, mut sum) = (from.to_vec(), 0u64);
        while let Some(class) = stack.pop() {
            if !seen.insert(class) {
                continue;
            }
            self.looked_at += 1;
            let node = if class == at { other } else { self.node(class)? };
            sum = sum.saturating_add((self.cost)(node));
            stack.extend(self.children(node));
        }
        Some(sum)
    }

    /// Whether a class with this node would depend on itself.
    fn is_cyclic(&mut self, class: Id, node: &Node) -> bool {
        let mut seen = FxHashSet::default();
        let mut stack = self.children(node);
        while let Some(at) = stack.pop() {
            if at == class {
                return true;
            }
            if seen.insert(at) {
                self.looked_at += 1;
                stack.extend(self.node(at).into_iter().flat_map(|node| self.children(node)));
            }
        }
        false
    }

    /// Returns the nodes of a needed class, if there are several.
    pub fn candidates(&mut self, class: Id) -> Option<Choices> {
        let nodes = &self.program.graph[class].nodes;
        let mut all: Vec<Candidate> =
            (0..nodes.len()).filter(|_| nodes.len() > 1).map(|i| self.candidate(class, i)).collect();
        all.sort_by_key(|candidate| (candidate.whole, candidate.node));
        let more = all.len().saturating_sub(MAX_CANDIDATES);
        all.truncate(MAX_CANDIDATES);
        (!all.is_empty()).then(|| Choices { class: node_id(class), name: None, candidates: all, more })
    }

    fn candidate(&mut self, class: Id, i: usize) -> Candidate {
        let program = self.program;
        let node = &program.graph[class].nodes[i];
        let operand = |&child: &Id| {
            let of = program.graph.find(child);
            node_id(self.node(of).map_or(child, |node| node.id))
        };
        let operands = node.children.iter().map(operand).collect();
        let (mut whole, mut alone) = (Whole::Unknown, None);
        if self.looked_at < MAX_LOOKED_AT {
            let roots: Vec<Id> = self.roots.iter().map(|&root| program.graph.find(root)).collect();
            let cyclic = self.is_cyclic(class, node);
            alone = if cyclic { None } else { self.total(&[class], class, node) };
            whole = match self.total(&roots, class, node).filter(|_| !cyclic) {
                Some(_) if self.choice.get(class) == Some(i as u32) => Whole::Chosen,
                Some(cost) => Whole::Cost(cost),
                None => Whole::Itself,
            };
        }
        Candidate { node: node_id(node.id), operands, own: (self.cost)(node), alone, whole }
    }
}
