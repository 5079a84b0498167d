//! Which classes changed, so that a rule need not look again where it has looked before.
//!
//! What matches at a class depends on its nodes and on the classes below it, as far down as the pattern reaches: its variables
//! count, for what is known of what they stand for. So for each depth it is kept when a class, or one at most so far below,
//! last got a node or became one with another. Rules of several roots are not bound to what is below the first, and look
//! everywhere.

use crate::graph::Graph;
use egg::Id;
use gradus_ir::rules::{Compiled, OpTerm, Term};

/// When classes were touched. The first time is 1.
#[derive(Default)]
pub struct Touched {
    /// By depth and class.
    times: Vec<Vec<u32>>,
    /// How many nodes and joins were seen.
    nodes: usize,
    joins: usize,
}

impl Touched {
    /// For patterns that reach at most so deep.
    pub fn new(depth: usize) -> Touched {
        Touched { times: vec![Vec::new(); depth + 1], ..Touched::default() }
    }

    /// Takes in what happened to the graph since the last time.
    pub fn update(&mut self, graph: &Graph, now: u32) {
        let (size, joins) = (graph.nodes().len(), &graph.analysis.journal.joins);
        if self.nodes == 0 {
            // All is new.
            (self.nodes, self.joins) = (size, joins.len());
            return self.times.iter_mut().for_each(|times| times.resize(size, now));
        }
        let added = (self.nodes..size).map(|node| graph.find(Id::from(node)));
        let joined = joins[self.joins..].iter().map(|join| graph.find(join.nodes[0]));
        let mut classes: Vec<Id> = added.chain(joined).collect();
        (self.nodes, self.joins) = (size, joins.len());
        for (depth, times) in self.times.iter_mut().enumerate() {
            times.resize(size, 0);
            if depth > 0 {
                let above = |&class: &Id| graph[class].parents().map(|node| graph.find(node)).collect::<Vec<_>>();
                let above: Vec<Id> = classes.iter().flat_map(above).collect();
                classes.extend(above);
            }
            classes.sort_unstable();
            classes.dedup();
            classes.iter().for_each(|&class| times[usize::from(class)] = now);
        }
    }

    /// Whether a class, or one at most so far below, was touched after a time.
    pub fn is_after(&self, time: u32, class: Id, depth: Option<usize>) -> bool {
        depth.is_none_or(|depth| self.times[depth][usize::from(class)] > time)
    }
}

/// How far below its root a rule looks; `None` if it looks elsewhere too.
pub fn depth(rule: &Compiled) -> Option<usize> {
    match &rule.roots[..] {
        [root] if root.results.len() == 1 => Some(below(root)),
        _ => None,
    }
}

fn below(op: &OpTerm) -> usize {
    let operand = |term: &Term| match term {
        // Between an op and one of its several results there is a node more.
        Term::Op { op, .. } => below(op) + 1 + usize::from(op.results.len() != 1),
        _ => 1,
    };
    op.operands.iter().map(operand).max().unwrap_or(0)
}
