//! Optimal extraction by branch and bound.
//!
//! Every choice contains a node of each landmark, so the search branches on the nodes of one landmark: the first node;
//! not the first but the second; and so on. Landmarks are recomputed in each branch. A branch is pruned when they cost
//! as much as the best known choice, and so is each node that would raise them to that cost.

use super::dag;
use super::landmarks::{LandmarkSet, Landmarks, OUT};
use super::problem::{Chosen, Cost, NONE, Problem};
use super::steps::Steps;
use super::trees::settle;

/// The best known choice and a lower bound.
pub struct Best {
    /// The choice.
    pub chosen: Chosen,
    /// Its cost.
    pub cost: Cost,
    /// A lower bound of all choices.
    pub bound: Cost,
}

/// Number of steps of local search per branch.
const IMPROVING_STEPS: usize = 20_000;

/// Improves choice and bound until they meet or the steps are exhausted.
pub fn improve(problem: &Problem, best: &mut Best, steps: &mut Steps) {
    let states = vec![ClassState::Open; problem.num_nodes()];
    let goals = problem.roots.clone();
    let mut search =
        BranchAndBound { problem, landmarks: Landmarks::new(problem), states, trail: Vec::new(), paid: 0, goals, best };
    let mut cases: Vec<Case> = Vec::new();
    let mut next = search.look(true, steps);
    loop {
        match next {
            Looked::Stopped => return,
            Looked::Closed => {}
            Looked::Open(nodes) => cases.push(Case { nodes, next: 0, mark: search.mark() }),
        }
        if search.best.cost == search.best.bound {
            return;
        }
        // A branch without remaining nodes is complete.
        while let Some(case) = cases.last_mut() {
            search.back_to(&case.mark);
            if case.next < case.nodes.len() {
                break;
            }
            cases.pop();
        }
        let Some(case) = cases.last_mut() else {
            search.best.bound = search.best.cost;
            return;
        };
        let node = case.nodes[case.next];
        let before = case.nodes[..case.next].to_vec();
        case.next += 1;
        before.into_iter().for_each(|node| search.set(node, ClassState::Out));
        search.choose(node);
        next = search.look(false, steps);
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum ClassState {
    Open,
    Chosen,
    Out,
}

/// A branching landmark.
struct Case {
    nodes: Vec<u32>,
    next: usize,
    mark: Mark,
}

/// A state to return to.
struct Mark {
    trail: usize,
    goals: usize,
    paid: Cost,
}

enum Looked {
    /// The branch is pruned.
    Closed,
    /// Every better choice contains one of these nodes.
    Open(Vec<u32>),
    /// The steps are exhausted.
    Stopped,
}

struct BranchAndBound<'p, 'b> {
    problem: &'p Problem,
    landmarks: Landmarks<'p>,
    states: Vec<ClassState>,
    /// Undo log of excluded and chosen nodes.
    trail: Vec<u32>,
    /// Cost of the chosen nodes.
    paid: Cost,
    /// The classes that are needed.
    goals: Vec<u32>,
    best: &'b mut Best,
}

impl BranchAndBound<'_, '_> {
    fn mark(&self) -> Mark {
        Mark { trail: self.trail.len(), goals: self.goals.len(), paid: self.paid }
    }

    fn back_to(&mut self, mark: &Mark) {
        self.trail.drain(mark.trail..).for_each(|node| self.states[node as usize] = ClassState::Open);
        self.goals.truncate(mark.goals);
        self.paid = mark.paid;
    }

    fn set(&mut self, node: u32, state: ClassState) {
        if self.states[node as usize] == ClassState::Open {
            self.states[node as usize] = state;
            self.trail.push(node);
        }
    }

    /// Chooses a node, whose class is then needed.
    fn choose(&mut self, node: u32) {
        self.set(node, ClassState::Chosen);
        self.paid += self.problem.cost(node);
        let class = self.problem.class(node);
        self.goals.push(class);
        self.problem.nodes(class).for_each(|other| self.set(other, ClassState::Out));
    }

    /// Computes landmarks and chooses nodes that alone are one. `is_all` marks the root of the search.
    fn look(&mut self, is_all: bool, steps: &mut Steps) -> Looked {
        loop {
            if self.paid >= self.best.cost {
                return Looked::Closed;
            }
            let enough = self.best.cost - self.paid;
            let found = self.landmarks.find(self.costs(), &self.goals, enough, steps);
            let Some(found) = found else { return Looked::Closed };
            let bound = self.paid + found.bound;
            if is_all {
                self.best.bound = self.best.bound.max(bound.min(self.best.cost));
            }
            if found.is_complete {
                self.record(steps);
            }
            if bound >= self.best.cost {
                return Looked::Closed;
            }
            if !found.is_complete {
                return Looked::Stopped;
            }
            let single = self.fix(&found, bound);
            if single.is_empty() {
                return self.divide(found);
            }
            single.into_iter().for_each(|node| self.choose(node));
        }
    }

    fn costs(&self) -> Vec<Cost> {
        let cost = |(node, state): (usize, &ClassState)| match state {
            ClassState::Open => self.problem.cost(node as u32),
            ClassState::Chosen => 0,
            ClassState::Out => OUT,
        };
        self.states.iter().enumerate().map(cost).collect()
    }

    /// Records a choice of zero remaining cost.
    fn record(&mut self, steps: &mut Steps) {
        let (problem, left) = (self.problem, &self.landmarks.left);
        let total = |node: u32, costs: &[Cost]| {
            let children = problem.children(node).iter();
            let sum = children.fold(problem.cost(node), |sum, &child| sum.saturating_add(costs[child as usize]));
            Some(sum).filter(|_| left[node as usize] == 0)
        };
        let chosen = settle(problem, total).chosen;
        let mut own = Steps(IMPROVING_STEPS.min(steps.0));
        steps.take(problem.num_nodes());
        if self.goals.iter().any(|&goal| chosen[goal as usize] == NONE) {
            return;
        }
        let before = own;
        let (chosen, cost) = dag::search(problem, chosen, &mut own);
        steps.take(before.0 - own.0);
        if cost < self.best.cost {
            (self.best.chosen, self.best.cost) = (chosen, cost);
        }
    }

    /// Excludes nodes that raise the bound to the best known cost. Returns the nodes without which there is no choice.
    fn fix(&mut self, found: &LandmarkSet, bound: Cost) -> Vec<u32> {
        let room = self.best.cost - bound;
        for node in 0..self.problem.num_nodes() as u32 {
            if self.states[node as usize] == ClassState::Open && self.landmarks.left[node as usize] >= room {
                self.set(node, ClassState::Out);
            }
        }
        let only = |nodes: &Vec<u32>| match self.open(nodes, 2)[..] {
            [node] => Some(node),
            _ => None,
        };
        let mut single: Vec<u32> = found.landmarks.iter().filter_map(|landmark| only(&landmark.nodes)).collect();
        single.sort_unstable();
        single.dedup();
        // A class has one chosen node; the next look finds contradictions.
        single.dedup_by_key(|node| self.problem.class(*node));
        single
    }

    /// Returns the first `most` open nodes among some.
    fn open(&self, nodes: &[u32], most: usize) -> Vec<u32> {
        nodes.iter().copied().filter(|&node| self.states[node as usize] == ClassState::Open).take(most).collect()
    }

    /// Selects the landmark with the fewest nodes, then the most expensive; nodes of the best known choice first.
    fn divide(&self, found: LandmarkSet) -> Looked {
        let all = found.landmarks.into_iter().map(|landmark| (self.open(&landmark.nodes, usize::MAX), landmark.cost));
        let Some((mut nodes, _)) = all.min_by_key(|(nodes, cost)| (nodes.len(), Cost::MAX - cost)) else {
            return Looked::Closed;
        };
        let is_best = |node: u32| self.best.chosen[self.problem.class(node) as usize] == node;
        nodes.sort_by_key(|&node| (!is_best(node), self.landmarks.left[node as usize], node));
        Looked::Open(nodes)
    }
}
