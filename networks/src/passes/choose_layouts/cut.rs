//! Minimum cuts of directed networks.

use petgraph::Direction::{Incoming, Outgoing};
use petgraph::algo::maximum_flow::dinics;
use petgraph::graph::{DiGraph, NodeIndex};
use petgraph::visit::EdgeRef;

/// A capacity that no minimum cut contains.
pub(super) const NO_CUT: u64 = u64::MAX >> 8;

/// The source, and the sink.
pub(super) const SOURCE: usize = 0;
pub(super) const SINK: usize = 1;

/// A network with capacities.
pub(super) struct FlowNetwork(DiGraph<(), u64>);

impl FlowNetwork {
    /// Creates a network of the source and the sink.
    pub(super) fn new() -> FlowNetwork {
        let mut graph = DiGraph::new();
        graph.add_node(());
        graph.add_node(());
        FlowNetwork(graph)
    }

    /// Adds a node.
    pub(super) fn add_node(&mut self) -> usize {
        self.0.add_node(()).index()
    }

    /// Adds an edge with capacities there and back.
    pub(super) fn connect(&mut self, nodes: [usize; 2], [there, back]: [u64; 2]) {
        let [a, b] = nodes.map(NodeIndex::new);
        for (from, to, capacity) in [(a, b, there), (b, a, back)] {
            if from != to && capacity > 0 {
                self.0.add_edge(from, to, capacity);
            }
        }
    }

    /// Returns for each node whether a minimum cut leaves it on the side of the source: whether capacity is left to it after a
    /// maximum flow. Time: O(V² E).
    pub(super) fn cut(self) -> Vec<bool> {
        let (network, source) = (self.0, NodeIndex::new(SOURCE));
        let (_, flows) = dinics(&network, source, NodeIndex::new(SINK));
        let (mut is_reached, mut stack) = (vec![false; network.node_count()], vec![source]);
        is_reached[SOURCE] = true;
        while let Some(node) = stack.pop() {
            let there = network.edges_directed(node, Outgoing).filter(|edge| flows[edge.id().index()] < *edge.weight());
            let back = network.edges_directed(node, Incoming).filter(|edge| flows[edge.id().index()] > 0);
            for next in there.map(|edge| edge.target()).chain(back.map(|edge| edge.source())) {
                if !std::mem::replace(&mut is_reached[next.index()], true) {
                    stack.push(next);
                }
            }
        }
        is_reached
    }
}

#[cfg(test)]
mod tests {
    use super::{FlowNetwork, SINK, SOURCE};
    use gradus_ir::random::Random;

    /// The capacity from the side of the source to that of the sink.
    fn capacity(edges: &[([usize; 2], [u64; 2])], is_source: impl Fn(usize) -> bool) -> u64 {
        let cost = |&([a, b], [there, back]): &([usize; 2], [u64; 2])| match (is_source(a), is_source(b)) {
            (true, false) => there,
            (false, true) => back,
            _ => 0,
        };
        edges.iter().map(cost).sum()
    }

    #[test]
    fn cuts_are_minimal() {
        for number in 0..300_u64 {
            let mut random = Random::of(("cut", number));
            let nodes = 2 + random.below(8) as usize;
            let mut node = || random.below(nodes as u64) as usize;
            let pairs: Vec<[usize; 2]> = (0..3 * nodes).map(|_| [node(), node()]).collect();
            let edges: Vec<_> = pairs.into_iter().map(|pair| (pair, [random.below(9), random.below(3)])).collect();
            let mut network = FlowNetwork::new();
            for _ in 2..nodes {
                network.add_node();
            }
            edges.iter().for_each(|&(pair, capacities)| network.connect(pair, capacities));
            let side = network.cut();
            assert!(side[SOURCE] && !side[SINK]);
            let best = (0..1_u32 << (nodes - 2))
                .map(|sides| capacity(&edges, |n| n == SOURCE || n != SINK && sides >> (n - 2) & 1 == 1))
                .min();
            assert_eq!(Some(capacity(&edges, |n| side[n])), best, "network {number}");
        }
    }
}
