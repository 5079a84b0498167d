//! A lower bound from disjointness: if no two operands can share a node, their costs add up.
//!
//! Two classes can share a node only if they share one of the sinks that both reach, so sets of sinks are compared.
//! Among overlapping operands, a disjoint subset is chosen greedily, most expensive first. Without overlaps, as in a
//! matrix chain, the cheapest tree is optimal.

use super::problem::{Cost, Problem};
use super::trees::settle;
use petgraph::algo::kosaraju_scc;
use petgraph::graph::{DiGraph, NodeIndex};

/// Maximum total size of the sets in bits; above it nothing is known to be disjoint.
const MAX_BITS: usize = 1 << 28;

/// Computes the bound.
pub fn bound(problem: &Problem) -> Cost {
    let mut lasts = Lasts::of(problem);
    let trees = settle(problem, |node, costs| {
        Some(problem.cost(node).saturating_add(lasts.pack(problem.children(node), costs)))
    });
    lasts.pack(&problem.roots, &trees.costs)
}

/// The sinks that each class reaches.
struct Lasts {
    /// Number of words per set; 0 if the sets would be too large.
    words: usize,
    sets: Vec<u64>,
    reached: Vec<u64>,
    order: Vec<u32>,
}

impl Lasts {
    fn of(problem: &Problem) -> Lasts {
        let successors = |class: u32| problem.nodes(class).flat_map(|node| problem.children(node)).copied();
        let edges =
            (0..problem.num_classes() as u32).flat_map(|class| successors(class).map(move |child| (class, child)));
        let graph: DiGraph<(), ()> = DiGraph::from_edges(edges);
        // Strongly connected components in topological order.
        let mut components = kosaraju_scc(&graph);
        let known = graph.node_count() as u32;
        components.extend((known..problem.num_classes() as u32).map(|class| vec![NodeIndex::new(class as usize)]));
        let mut component_of = vec![0; problem.num_classes()];
        for (i, component) in components.iter().enumerate() {
            component.iter().for_each(|class| component_of[class.index()] = i);
        }
        let leaves = |(i, component): (usize, &Vec<NodeIndex>)| {
            component.iter().all(|class| successors(class.index() as u32).all(|to| component_of[to as usize] == i))
        };
        let is_last: Vec<bool> = components.iter().enumerate().map(leaves).collect();
        let words = is_last.iter().filter(|&&last| last).count().div_ceil(64);
        let words = if 64 * words * components.len() > MAX_BITS { 0 } else { words };
        let mut sets = vec![0; words * components.len()];
        let mut next = 0;
        for (i, component) in components.iter().enumerate().filter(|_| words > 0) {
            let (below, own) = sets.split_at_mut(i * words);
            if is_last[i] {
                own[next / 64] |= 1 << (next % 64);
                next += 1;
            }
            for to in component.iter().flat_map(|class| successors(class.index() as u32)) {
                let to = component_of[to as usize];
                if to != i {
                    own.iter_mut().zip(&below[to * words..][..words]).for_each(|(own, to)| *own |= to);
                }
            }
        }
        let by_class = component_of.iter().flat_map(|&i| sets[i * words..][..words].iter().copied()).collect();
        Lasts { words, sets: by_class, reached: vec![0; words], order: Vec::new() }
    }

    /// Returns the total cost of a disjoint subset of the classes.
    fn pack(&mut self, classes: &[u32], costs: &[Cost]) -> Cost {
        let cost = |class: u32| costs[class as usize];
        if self.words == 0 || classes.len() < 2 {
            return classes.iter().map(|&class| cost(class)).max().unwrap_or(0);
        }
        self.order.clear();
        self.order.extend_from_slice(classes);
        self.order.sort_by_key(|&class| (std::cmp::Reverse(cost(class)), class));
        self.reached.fill(0);
        let mut sum: Cost = 0;
        for i in 0..self.order.len() {
            let class = self.order[i];
            let set = &self.sets[class as usize * self.words..][..self.words];
            if self.reached.iter().zip(set).all(|(taken, set)| taken & set == 0) {
                self.reached.iter_mut().zip(set).for_each(|(taken, set)| *taken |= set);
                sum = sum.saturating_add(cost(class));
            }
        }
        sum
    }
}
