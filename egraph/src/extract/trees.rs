//! Cheapest trees, where shared nodes count once per use (Knuth's generalization of Dijkstra's algorithm).
//!
//! Classes are settled in order of cost, each by a node whose children are settled, so the choice is acyclic and each
//! node is visited once.

use super::problem::{Chosen, Cost, NONE, Problem};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The cost and root node of the cheapest tree of each class.
pub struct Trees {
    /// Cost by class.
    pub costs: Vec<Cost>,
    /// Root node by class.
    pub chosen: Chosen,
}

/// Settles all classes. `total` returns the cost of a node including its children from the costs of settled classes;
/// `None` excludes the node.
pub fn settle(problem: &Problem, mut total: impl FnMut(u32, &[Cost]) -> Option<Cost>) -> Trees {
    let mut missing: Vec<u32> = (0..problem.num_nodes() as u32).map(|n| problem.children(n).len() as u32).collect();
    let mut trees = Trees { costs: vec![Cost::MAX; problem.num_classes()], chosen: vec![NONE; problem.num_classes()] };
    let mut queue = BinaryHeap::new();
    let mut settled = vec![false; problem.num_classes()];
    let mut offer = |node: u32, trees: &mut Trees, queue: &mut BinaryHeap<_>| {
        let class = problem.class(node) as usize;
        if let Some(cost) =
            total(node, &trees.costs).filter(|&cost| trees.chosen[class] == NONE || cost < trees.costs[class])
        {
            (trees.costs[class], trees.chosen[class]) = (cost, node);
            queue.push(Reverse((cost, class as u32)));
        }
    };
    problem.leaves().for_each(|leaf| offer(leaf, &mut trees, &mut queue));
    while let Some(Reverse((_, class))) = queue.pop() {
        if std::mem::replace(&mut settled[class as usize], true) {
            continue;
        }
        for &user in problem.users(class) {
            missing[user as usize] -= 1;
            if missing[user as usize] == 0 && !settled[problem.class(user) as usize] {
                offer(user, &mut trees, &mut queue);
            }
        }
    }
    trees
}

/// Computes the cheapest trees.
pub fn trees(problem: &Problem) -> Trees {
    settle(problem, |node, costs| {
        let children = problem.children(node).iter();
        Some(children.fold(problem.cost(node), |sum, &child| sum.saturating_add(costs[child as usize])))
    })
}

/// Computes cheapest trees with the cost of each class divided by its number of uses.
pub fn shared_trees(problem: &Problem, uses: &[u32]) -> Chosen {
    let shared = settle(problem, |node, costs| {
        let part = |&child: &u32| costs[child as usize] / Cost::from(uses[child as usize].max(1));
        Some(problem.children(node).iter().map(part).fold(problem.cost(node), Cost::saturating_add))
    });
    shared.chosen
}
