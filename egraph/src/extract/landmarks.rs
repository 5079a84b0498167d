//! A lower bound from landmarks: sets of nodes that every choice intersects.
//!
//! Take any set of classes that contains a root. Some class of the set comes first in a choice, made only from classes
//! outside the set. So every choice contains a node of a class in the set whose children are all outside: these nodes
//! are a landmark, and the cheapest is a bound. Its cost is subtracted from all of them, and the next landmark is
//! computed from the remaining costs; the bounds add up. Good sets follow from the most expensive chain to a root,
//! where each class is made as cheaply as possible: LM-cut in planning (Helmert and Domshlak, 2009).

use super::problem::{Cost, NONE, Problem};
use super::steps::Steps;
use super::trees::settle;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The cost of an excluded node.
pub const OUT: Cost = Cost::MAX;

/// Number of nodes above which landmarks are searched only close to the roots.
const MAX_THOROUGH: usize = 20_000;

/// A landmark: a set of nodes that every choice intersects.
pub struct Landmark {
    /// The cost subtracted from all of them.
    pub cost: Cost,
    /// The nodes.
    pub nodes: Vec<u32>,
}

/// The landmark search.
pub struct Landmarks<'p> {
    problem: &'p Problem,
    /// Remaining cost of each node; [`OUT`] if excluded.
    pub left: Vec<Cost>,
    /// Cost of the most expensive chain to each class.
    values: Vec<Cost>,
    /// The most expensive child of each node; [`NONE`] for leaves.
    dearest: Vec<u32>,
    in_zone: Vec<bool>,
    /// Number of children of each node, and number of those not reached yet.
    counts: Vec<u32>,
    missing: Vec<u32>,
}

/// The result of a landmark search.
pub struct LandmarkSet {
    /// The landmarks.
    pub landmarks: Vec<Landmark>,
    /// The sum of their costs, a lower bound of all choices.
    pub bound: Cost,
    /// Whether the roots can be made from nodes of zero remaining cost.
    pub is_complete: bool,
}

impl<'p> Landmarks<'p> {
    /// Creates a search.
    pub fn new(problem: &'p Problem) -> Landmarks<'p> {
        let nodes = problem.num_nodes();
        Landmarks {
            problem,
            left: Vec::new(),
            values: Vec::new(),
            dearest: vec![NONE; nodes],
            in_zone: vec![false; problem.num_classes()],
            counts: (0..nodes as u32).map(|node| problem.children(node).len() as u32).collect(),
            missing: vec![0; nodes],
        }
    }

    /// Finds landmarks of all choices for `goals`, until they cost `enough`. `None` if there is no choice.
    pub fn find(&mut self, costs: Vec<Cost>, goals: &[u32], enough: Cost, steps: &mut Steps) -> Option<LandmarkSet> {
        self.left = costs;
        self.start();
        let mut found = LandmarkSet { landmarks: Vec::new(), bound: 0, is_complete: false };
        let size = self.problem.num_nodes();
        let mut can_go_on = steps.take(size);
        loop {
            let value = |goal: u32| self.values[goal as usize];
            let goal = goals.iter().copied().max_by_key(|&goal| (value(goal), Reverse(goal)));
            let Some(goal) = goal.filter(|&goal| value(goal) > 0) else {
                found.is_complete = true;
                return Some(found);
            };
            if value(goal) == OUT {
                return None;
            }
            if found.bound >= enough || !can_go_on {
                return Some(found);
            }
            let zone = self.zone(goal);
            can_go_on = steps.take(if size > MAX_THOROUGH { zone.len() } else { size });
            let nodes = if size > MAX_THOROUGH { self.close(&zone) } else { self.thorough() };
            zone.iter().for_each(|&class| self.in_zone[class as usize] = false);
            let Some(cost) = nodes.iter().map(|&node| self.left[node as usize]).min() else { return Some(found) };
            found.bound += cost;
            can_go_on &= steps.take(self.lower(&nodes, cost));
            found.landmarks.push(Landmark { cost, nodes });
        }
    }

    /// Computes the most expensive chains.
    fn start(&mut self) {
        let (problem, left) = (self.problem, &self.left);
        let dearest = |node: u32, values: &[Cost]| {
            problem.children(node).iter().copied().max_by_key(|&child| (values[child as usize], Reverse(child)))
        };
        let value = |node: u32, values: &[Cost]| {
            let below = dearest(node, values).map_or(0, |child| values[child as usize]);
            Some(left[node as usize].saturating_add(below)).filter(|&value| value < OUT)
        };
        self.values = settle(problem, value).costs;
        for node in 0..problem.num_nodes() as u32 {
            self.dearest[node as usize] = dearest(node, &self.values).unwrap_or(NONE);
        }
    }

    /// Returns the classes from which a most expensive chain reaches the goal at zero cost.
    fn zone(&mut self, goal: u32) -> Vec<u32> {
        let mut zone = vec![goal];
        self.in_zone[goal as usize] = true;
        let mut next = 0;
        while let Some(&class) = zone.get(next) {
            next += 1;
            for node in self.problem.nodes(class).filter(|&node| self.left[node as usize] == 0) {
                let child = self.dearest[node as usize];
                if child != NONE && !std::mem::replace(&mut self.in_zone[child as usize], true) {
                    zone.push(child);
                }
            }
        }
        zone
    }

    /// Returns the nodes of the zone without children in it.
    fn close(&self, zone: &[u32]) -> Vec<u32> {
        let outside = |&&child: &&u32| !self.in_zone[child as usize] && self.values[child as usize] < OUT;
        let enters = |&node: &u32| {
            self.left[node as usize] < OUT
                && self.problem.children(node).iter().filter(outside).count() == self.problem.children(node).len()
        };
        zone.iter().flat_map(|&class| self.problem.nodes(class)).filter(enters).collect()
    }

    /// Returns the nodes of the zone that can be made from classes outside it.
    fn thorough(&mut self) -> Vec<u32> {
        let problem = self.problem;
        self.missing.copy_from_slice(&self.counts);
        let mut made = vec![false; problem.num_classes()];
        let (mut entering, mut work) = (Vec::new(), Vec::new());
        let mut ready: Vec<u32> = problem.leaves().collect();
        loop {
            for node in ready.drain(..).filter(|&node| self.left[node as usize] < OUT) {
                let class = problem.class(node);
                if self.in_zone[class as usize] {
                    entering.push(node);
                } else if !std::mem::replace(&mut made[class as usize], true) {
                    work.push(class);
                }
            }
            let Some(class) = work.pop() else { return entering };
            for &user in problem.users(class) {
                self.missing[user as usize] -= 1;
                ready.extend((self.missing[user as usize] == 0).then_some(user));
            }
        }
    }

    /// Subtracts a cost from some nodes. Returns the number of visited nodes.
    fn lower(&mut self, nodes: &[u32], by: Cost) -> usize {
        let mut queue = BinaryHeap::new();
        for &node in nodes {
            self.left[node as usize] -= by;
            self.offer(node, &mut queue);
        }
        let mut looked_at = nodes.len();
        while let Some(Reverse((value, class))) = queue.pop() {
            if value > self.values[class as usize] {
                continue;
            }
            for &user in self.problem.users(class) {
                looked_at += 1;
                if self.dearest[user as usize] == class && self.left[user as usize] < OUT {
                    let value = |&child: &u32| (self.values[child as usize], Reverse(child));
                    self.dearest[user as usize] =
                        self.problem.children(user).iter().copied().max_by_key(value).unwrap_or(NONE);
                    self.offer(user, &mut queue);
                }
            }
        }
        looked_at
    }

    /// Lowers the value of a class after one of its nodes became cheaper.
    fn offer(&mut self, node: u32, queue: &mut BinaryHeap<Reverse<(Cost, u32)>>) {
        let below = self.dearest[node as usize];
        let below = if below == NONE { 0 } else { self.values[below as usize] };
        let (value, class) = (self.left[node as usize].saturating_add(below), self.problem.class(node));
        if value < self.values[class as usize] {
            self.values[class as usize] = value;
            queue.push(Reverse((value, class)));
        }
    }
}
