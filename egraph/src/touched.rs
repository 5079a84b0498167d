//! Change tracking of e-classes, for incremental search.
//!
//! A match at a class depends on its nodes and on the classes below it, down to the depth of the pattern, variables
//! included because conditions read their facts. So for each depth and class the table has the last time at which the
//! class, or one at most that far below it, gained a node or was merged. Rules with several roots search everywhere.

use crate::graph::Graph;
use egg::Id;
use gradus_ir::rules::{CompiledRule, OpTerm, Term};

/// Times of change, starting at 1.
#[derive(Default)]
pub struct Touched {
    /// Times by depth and class.
    times: Vec<Vec<u32>>,
    /// Numbers of nodes and joins processed so far.
    nodes: usize,
    joins: usize,
}

impl Touched {
    /// Creates a table for patterns of at most this depth.
    pub fn new(depth: usize) -> Touched {
        Touched { times: vec![Vec::new(); depth + 1], ..Touched::default() }
    }

    /// Processes the changes of the graph since the last call.
    pub fn update(&mut self, graph: &Graph, now: u32) {
        let (size, joins) = (graph.nodes().len(), &graph.analysis.journal.joins);
        if self.nodes == 0 {
            // Initially everything is new.
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

    /// Whether a class, or one at most `depth` below it, changed after a time.
    pub fn is_after(&self, time: u32, class: Id, depth: Option<usize>) -> bool {
        depth.is_none_or(|depth| self.times[depth][usize::from(class)] > time)
    }
}

/// Returns the depth of a rule's pattern; `None` if it has several roots.
pub fn depth(rule: &CompiledRule) -> Option<usize> {
    match &rule.roots[..] {
        [root] if root.results.len() == 1 => Some(below(root)),
        _ => None,
    }
}

fn below(op: &OpTerm) -> usize {
    let operand = |term: &Term| match term {
        // Between a multi-result op and its result there is a projection.
        Term::Op { op, .. } => below(op) + 1 + usize::from(op.results.len() != 1),
        _ => 1,
    };
    op.operands.iter().map(operand).max().unwrap_or(0)
}
