//! Paths from one node to an equal one, through the joins of the journal.

use crate::graph::Graph;
use crate::journal::Why;
use egg::Id;
use rustc_hash::FxHashSet;

/// A node's edge toward the root of its tree.
#[derive(Clone, Copy)]
struct Up {
    parent: u32,
    /// Index of the join.
    join: u32,
    depth: u32,
}

/// The forest of joins, for explanations of equalities.
pub struct Paths<'g> {
    graph: &'g Graph,
    up: Vec<Up>,
    /// Number of joins visited.
    looked_at: usize,
}

/// Maximum number of joins visited for an explanation.
const MAX_LOOKED_AT: usize = 5_000_000;

impl<'g> Paths<'g> {
    /// Builds the forest of all joins so far.
    pub fn new(graph: &'g Graph) -> Paths<'g> {
        let (size, joins) = (graph.nodes().len(), &graph.analysis.journal.joins);
        let mut starts = vec![0u32; size + 1];
        let ends = || joins.iter().enumerate().flat_map(|(i, join)| join.nodes.map(|node| (usize::from(node), i)));
        ends().for_each(|(node, _)| starts[node] += 1);
        let mut sum = 0;
        for start in &mut starts {
            sum += *start;
            *start = sum;
        }
        let mut edges = vec![0u32; 2 * joins.len()];
        for (node, i) in ends() {
            starts[node] -= 1;
            edges[starts[node] as usize] = i as u32;
        }
        let mut up = vec![Up { parent: u32::MAX, join: u32::MAX, depth: 0 }; size];
        let mut stack = Vec::new();
        for root in 0..size {
            if up[root].parent != u32::MAX {
                continue;
            }
            up[root].parent = root as u32;
            stack.push(root);
            while let Some(at) = stack.pop() {
                for &i in &edges[starts[at] as usize..starts[at + 1] as usize] {
                    let [a, b] = joins[i as usize].nodes.map(usize::from);
                    let to = if a == at { b } else { a };
                    if up[to].parent == u32::MAX {
                        up[to] = Up { parent: at as u32, join: i, depth: up[at].depth + 1 };
                        stack.push(to);
                    }
                }
            }
        }
        Paths { graph, up, looked_at: 0 }
    }

    /// Returns the joins on the path between two nodes; `None` if they are not equal.
    fn joins(&mut self, a: Id, b: Id) -> Option<Vec<u32>> {
        let (mut a, mut b) = (usize::from(a), usize::from(b));
        let (mut first, mut second) = (Vec::new(), Vec::new());
        while a != b {
            let (at, list) =
                if self.up[a].depth >= self.up[b].depth { (&mut a, &mut first) } else { (&mut b, &mut second) };
            let up = self.up[*at];
            if up.join == u32::MAX {
                return None;
            }
            list.push(up.join);
            *at = up.parent as usize;
        }
        self.looked_at += first.len() + second.len() + 1;
        second.reverse();
        first.extend(second);
        Some(first)
    }

    /// Returns the number of joins when two nodes became equal.
    fn since(&mut self, a: Id, b: Id) -> u32 {
        self.joins(a, b).map_or(u32::MAX, |joins| joins.iter().max().map_or(0, |last| last + 1))
    }

    /// Whether the limit on visited joins is reached.
    pub fn is_exhausted(&self) -> bool {
        self.looked_at > MAX_LOOKED_AT
    }

    /// Returns the steps between two nodes in path order, including those that made operands equal.
    pub fn steps(&mut self, a: Id, b: Id) -> Vec<u32> {
        let (mut found, mut open) = (Vec::new(), vec![(a, b)]);
        let mut known = FxHashSet::default();
        while let Some((a, b)) = open.pop() {
            if self.is_exhausted() {
                break;
            }
            for i in self.joins(a, b).unwrap_or_default() {
                if !known.insert(i) {
                    continue;
                }
                let join = self.graph.analysis.journal.joins[i as usize];
                match join.why {
                    Why::Step(step) => found.push(step),
                    Why::Operands => open.extend(self.operands(join.nodes, i)),
                }
            }
        }
        found
    }

    /// Returns the pairs of operands that made two nodes congruent at the time of a join.
    fn operands(&mut self, [a, b]: [Id; 2], join: u32) -> Vec<(Id, Id)> {
        let nodes = self.graph.nodes();
        let [a, b] = [a, b].map(|id| &nodes[usize::from(id)]);
        let straight: Vec<(Id, Id)> = a.children.iter().copied().zip(b.children.iter().copied()).collect();
        if !a.commutative || straight.iter().all(|&(a, b)| self.since(a, b) <= join) {
            return straight;
        }
        a.children.iter().copied().zip(b.children.iter().rev().copied()).collect()
    }
}
