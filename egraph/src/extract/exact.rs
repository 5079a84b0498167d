//! The optimum, by branch and bound.
//!
//! Every choice has a node of each landmark, so that one landmark after the other is divided into cases: it is the first
//! node, or not the first but the second, and so on. In each case landmarks are looked for again. A case is closed when they
//! cost as much as the best choice that is known; so is each node that would make them cost as much.

use super::dag;
use super::landmarks::{Found, Landmarks, OUT};
use super::problem::{Chosen, Cost, NONE, Problem};
use super::steps::Steps;
use super::trees::settle;

/// The best choice that is known, and a bound.
pub struct Best {
    /// The choice.
    pub chosen: Chosen,
    /// What it costs.
    pub cost: Cost,
    /// No choice costs less.
    pub bound: Cost,
}

/// So often, for each case, choices are changed one by one to make them better.
const IMPROVING_STEPS: usize = 20_000;

/// Improves a choice, and the bound, until they meet or the steps are used up.
pub fn improve(problem: &Problem, best: &mut Best, steps: &mut Steps) {
    let states = vec![State::Open; problem.num_nodes()];
    let goals = problem.roots.clone();
    let mut search =
        Search { problem, landmarks: Landmarks::new(problem), states, trail: Vec::new(), paid: 0, goals, best };
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
        // What has no more cases is closed.
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
        before.into_iter().for_each(|node| search.set(node, State::Out));
        search.choose(node);
        next = search.look(false, steps);
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Open,
    Chosen,
    Out,
}

/// A landmark, of which one node after the other is tried.
struct Case {
    nodes: Vec<u32>,
    next: usize,
    mark: Mark,
}

/// How things were.
struct Mark {
    trail: usize,
    goals: usize,
    paid: Cost,
}

enum Looked {
    /// No choice is better here.
    Closed,
    /// One of these nodes is in each choice that is better.
    Open(Vec<u32>),
    /// There are no more steps.
    Stopped,
}

struct Search<'p, 'b> {
    problem: &'p Problem,
    landmarks: Landmarks<'p>,
    states: Vec<State>,
    /// Nodes that were open before.
    trail: Vec<u32>,
    /// What the nodes cost that are chosen.
    paid: Cost,
    /// The classes that are needed.
    goals: Vec<u32>,
    best: &'b mut Best,
}

impl Search<'_, '_> {
    fn mark(&self) -> Mark {
        Mark { trail: self.trail.len(), goals: self.goals.len(), paid: self.paid }
    }

    fn back_to(&mut self, mark: &Mark) {
        self.trail.drain(mark.trail..).for_each(|node| self.states[node as usize] = State::Open);
        self.goals.truncate(mark.goals);
        self.paid = mark.paid;
    }

    fn set(&mut self, node: u32, state: State) {
        if self.states[node as usize] == State::Open {
            self.states[node as usize] = state;
            self.trail.push(node);
        }
    }

    /// Its class is this node, and is needed.
    fn choose(&mut self, node: u32) {
        self.set(node, State::Chosen);
        self.paid += self.problem.cost(node);
        let class = self.problem.class(node);
        self.goals.push(class);
        self.problem.nodes(class).for_each(|other| self.set(other, State::Out));
    }

    /// Looks for landmarks; chooses nodes that alone are one. `is_all`: this is no case, but all choices.
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
        let cost = |(node, state): (usize, &State)| match state {
            State::Open => self.problem.cost(node as u32),
            State::Chosen => 0,
            State::Out => OUT,
        };
        self.states.iter().enumerate().map(cost).collect()
    }

    /// Makes a choice of what costs nothing any more.
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

    /// Excludes nodes with which the bound would not be below the best choice. Gives those without which there is no choice.
    fn fix(&mut self, found: &Found, bound: Cost) -> Vec<u32> {
        let room = self.best.cost - bound;
        for node in 0..self.problem.num_nodes() as u32 {
            if self.states[node as usize] == State::Open && self.landmarks.left[node as usize] >= room {
                self.set(node, State::Out);
            }
        }
        let only = |nodes: &Vec<u32>| match self.open(nodes, 2)[..] {
            [node] => Some(node),
            _ => None,
        };
        let mut single: Vec<u32> = found.landmarks.iter().filter_map(|landmark| only(&landmark.nodes)).collect();
        single.sort_unstable();
        single.dedup();
        // Of one class only one can be chosen; the next look notices that there is no choice.
        single.dedup_by_key(|node| self.problem.class(*node));
        single
    }

    /// Open nodes among some, no more than so many.
    fn open(&self, nodes: &[u32], most: usize) -> Vec<u32> {
        nodes.iter().copied().filter(|&node| self.states[node as usize] == State::Open).take(most).collect()
    }

    /// The landmark with the fewest nodes, the dearest of those; first comes what the best choice has.
    fn divide(&self, found: Found) -> Looked {
        let all = found.landmarks.into_iter().map(|landmark| (self.open(&landmark.nodes, usize::MAX), landmark.cost));
        let Some((mut nodes, _)) = all.min_by_key(|(nodes, cost)| (nodes.len(), Cost::MAX - cost)) else {
            return Looked::Closed;
        };
        let is_best = |node: u32| self.best.chosen[self.problem.class(node) as usize] == node;
        nodes.sort_by_key(|&node| (!is_best(node), self.landmarks.left[node as usize], node));
        Looked::Open(nodes)
    }
}
