//! Minimum cuts of directed networks (Dinic, 1970).

use std::collections::VecDeque;

/// A capacity that no minimum cut contains.
pub(super) const NO_CUT: u64 = u64::MAX >> 8;

/// The source, and the sink.
pub(super) const SOURCE: usize = 0;
pub(super) const SINK: usize = 1;

/// A directed edge; its reverse is the next or previous edge.
struct Edge {
    to: usize,
    /// Remaining capacity.
    left: u64,
}

/// A network with capacities.
pub(super) struct FlowNetwork {
    edges: Vec<Edge>,
    /// The edges from each node.
    from: Vec<Vec<usize>>,
}

impl FlowNetwork {
    /// Creates a network of the source and the sink.
    pub(super) fn new() -> FlowNetwork {
        FlowNetwork { edges: Vec::new(), from: vec![Vec::new(), Vec::new()] }
    }

    /// Adds a node.
    pub(super) fn add_node(&mut self) -> usize {
        self.from.push(Vec::new());
        self.from.len() - 1
    }

    /// Adds an edge with capacities there and back.
    pub(super) fn connect(&mut self, [a, b]: [usize; 2], [there, back]: [u64; 2]) {
        if a == b || there == 0 && back == 0 {
            return;
        }
        for (from, to, left) in [(a, b, there), (b, a, back)] {
            self.from[from].push(self.edges.len());
            self.edges.push(Edge { to, left });
        }
    }

    /// Returns for each node whether a minimum cut leaves it on the side of the source. Time: O(V² E).
    pub(super) fn cut(mut self) -> Vec<bool> {
        loop {
            let levels = self.levels();
            if levels[SINK].is_none() {
                return levels.into_iter().map(|level| level.is_some()).collect();
            }
            let mut next = vec![0; self.from.len()];
            while self.augment(&levels, &mut next) {}
        }
    }

    /// Returns the distance of each node from the source along edges with capacity left.
    fn levels(&self) -> Vec<Option<usize>> {
        let mut levels = vec![None; self.from.len()];
        levels[SOURCE] = Some(0);
        let mut queue = VecDeque::from([SOURCE]);
        while let Some(node) = queue.pop_front() {
            for edge in self.from[node].iter().map(|&i| &self.edges[i]) {
                if edge.left > 0 && levels[edge.to].is_none() {
                    levels[edge.to] = levels[node].map(|level| level + 1);
                    queue.push_back(edge.to);
                }
            }
        }
        levels
    }

    /// Sends flow along a shortest path. `next` is the first edge of each node that is not exhausted. Returns whether there is a path.
    fn augment(&mut self, levels: &[Option<usize>], next: &mut [usize]) -> bool {
        let (mut path, mut node): (Vec<usize>, usize) = (Vec::new(), SOURCE);
        while node != SINK {
            let step = self.from[node].get(next[node]).copied();
            match step {
                Some(i) if self.edges[i].left > 0 && levels[self.edges[i].to] == levels[node].map(|n| n + 1) => {
                    path.push(i);
                    node = self.edges[i].to;
                }
                Some(_) => next[node] += 1,
                None => {
                    let Some(last) = path.pop() else { return false };
                    node = self.edges[last ^ 1].to;
                    next[node] += 1;
                }
            }
        }
        let flow = path.iter().map(|&i| self.edges[i].left).min().unwrap_or(0);
        for i in path {
            self.edges[i].left -= flow;
            self.edges[i ^ 1].left = self.edges[i ^ 1].left.saturating_add(flow);
        }
        true
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
            (2..nodes).for_each(|_| drop(network.add_node()));
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
