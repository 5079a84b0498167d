//! Local search on DAG cost: one choice is changed at a time, and shared nodes count once.

use super::problem::{Chosen, Cost, NONE, Problem};
use super::steps::Steps;
use super::trees::shared_trees;
use indexmap::IndexMap;

/// Maximum number of rounds over all choices.
const MAX_ROUNDS: usize = 10;

/// Maximum number of restarts with costs divided by the previous number of uses.
const MAX_SHARED: usize = 4;

/// Searches from a start that has a tree for all classes. Returns the choice and its cost.
pub fn search(problem: &Problem, start: Chosen, steps: &mut Steps) -> (Chosen, Cost) {
    let mut dag = Dag::new(problem, start);
    dag.descend(steps);
    let mut best = (dag.chosen.clone(), dag.cost);
    for _ in 0..MAX_SHARED {
        if !steps.take(4 * problem.num_nodes()) {
            break;
        }
        dag = Dag::new(problem, shared_trees(problem, &dag.uses));
        dag.descend(steps);
        if dag.cost >= best.1 {
            break;
        }
        best = (dag.chosen.clone(), dag.cost);
    }
    best
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum VisitState {
    New,
    Open,
    Done,
}

/// Restores the choices of `start` wherever that costs no more, so that nothing changes without a gain.
pub fn restore(problem: &Problem, chosen: Chosen, start: &Chosen, steps: &mut Steps) -> Chosen {
    let mut dag = Dag::new(problem, chosen);
    for class in 0..problem.num_classes() as u32 {
        let own = start[class as usize];
        if own != NONE && own != dag.chosen[class as usize] && dag.uses[class as usize] > 0 {
            let most = dag.cost;
            dag.attempt(class, own, most, steps);
        }
    }
    dag.chosen
}

/// The nodes in use under a choice.
struct Dag<'p> {
    problem: &'p Problem,
    /// The choice; unused classes have one too, if there is any.
    chosen: Chosen,
    /// Number of uses of each class, by chosen nodes and as a root.
    uses: Vec<u32>,
    cost: Cost,
    /// A topological numbering of classes, valid until a change violates it.
    depths: Vec<u32>,
    stack: Vec<u32>,
}

impl<'p> Dag<'p> {
    fn new(problem: &'p Problem, chosen: Chosen) -> Dag<'p> {
        let len = problem.num_classes();
        let mut dag = Dag { problem, chosen, uses: vec![0; len], cost: 0, depths: vec![0; len], stack: Vec::new() };
        for &root in &problem.roots {
            dag.acquire(root);
        }
        dag.order();
        dag
    }

    fn children(&self, class: u32) -> &'p [u32] {
        self.problem.children(self.chosen[class as usize])
    }

    /// Numbers all classes topologically, children first.
    fn order(&mut self) {
        let mut state = vec![VisitState::New; self.problem.num_classes()];
        let mut next = self.problem.num_classes() as u32;
        for class in 0..self.problem.num_classes() as u32 {
            self.stack.push(class);
            while let Some(&class) = self.stack.last() {
                let at = class as usize;
                if state[at] == VisitState::New && self.chosen[at] != NONE {
                    state[at] = VisitState::Open;
                    let children = self.children(class);
                    self.stack.extend(children.iter().filter(|&&child| state[child as usize] == VisitState::New));
                    continue;
                }
                if std::mem::replace(&mut state[at], VisitState::Done) != VisitState::Done {
                    self.depths[at] = next;
                    next -= 1;
                }
                self.stack.pop();
            }
        }
    }

    /// Adds a use of a class. Returns the number of classes that become used.
    fn acquire(&mut self, class: u32) -> usize {
        let mut count = 0;
        self.stack.push(class);
        while let Some(class) = self.stack.pop() {
            self.uses[class as usize] += 1;
            if self.uses[class as usize] == 1 {
                count += 1;
                self.cost += self.problem.cost(self.chosen[class as usize]);
                let children = self.children(class);
                self.stack.extend_from_slice(children);
            }
        }
        count
    }

    /// Removes a use of a class. Returns the number of classes that become unused.
    fn release(&mut self, class: u32) -> usize {
        let mut count = 0;
        self.stack.push(class);
        while let Some(class) = self.stack.pop() {
            self.uses[class as usize] -= 1;
            if self.uses[class as usize] == 0 {
                count += 1;
                self.cost -= self.problem.cost(self.chosen[class as usize]);
                let children = self.children(class);
                self.stack.extend_from_slice(children);
            }
        }
        count
    }

    /// Changes single choices until none lowers the cost.
    fn descend(&mut self, steps: &mut Steps) {
        for _ in 0..MAX_ROUNDS {
            let before = self.cost;
            for class in 0..self.problem.num_classes() as u32 {
                for node in self.problem.nodes(class) {
                    if self.uses[class as usize] > 0 && node != self.chosen[class as usize] {
                        let Some(most) = self.cost.checked_sub(1) else { return };
                        self.attempt(class, node, most, steps);
                    }
                }
            }
            self.share(steps);
            if self.cost == before || !steps.take(self.problem.num_nodes()) {
                break;
            }
            self.order();
        }
    }

    /// Changes several classes at once to share a class, wherever that lowers the cost: results of merged ops pay only
    /// together.
    fn share(&mut self, steps: &mut Steps) {
        for shared in 0..self.problem.num_classes() as u32 {
            let users = self.problem.users(shared);
            if users.len() > 1 && steps.take(users.len()) {
                self.attempt_all(users, steps);
            }
        }
    }

    /// Chooses all of these nodes that are possible, one per class, if the total cost decreases.
    fn attempt_all(&mut self, nodes: &[u32], steps: &mut Steps) {
        let (before, mut switched) = (self.cost, IndexMap::new());
        for &node in nodes {
            let class = self.problem.class(node);
            let old = self.chosen[class as usize];
            let can = self.uses[class as usize] > 0 && old != node && !switched.contains_key(&class);
            if can && self.attempt(class, node, Cost::MAX, steps) {
                switched.insert(class, old);
            }
        }
        if self.cost >= before {
            switched.into_iter().rev().for_each(|(class, old)| _ = self.switch(class, old));
        }
    }

    /// Chooses another node if the total cost is then at most `most`. Returns whether it did.
    fn attempt(&mut self, class: u32, node: u32, most: Cost, steps: &mut Steps) -> bool {
        let old = self.chosen[class as usize];
        let known = |&child: &u32| self.chosen[child as usize] != NONE;
        if !steps.take(1) || !self.problem.children(node).iter().all(known) {
            return false;
        }
        let moved = self.switch(class, node);
        let pays = steps.take(moved) && self.cost <= most && !self.is_cyclic(class, steps);
        if !pays {
            self.switch(class, old);
        }
        pays
    }

    /// Switches the node of a class and returns the number of classes whose use began or ended. The class stays in use
    /// even if it is temporarily cyclic.
    fn switch(&mut self, class: u32, to: u32) -> usize {
        let old = self.chosen[class as usize];
        self.cost = self.cost + self.problem.cost(to) - self.problem.cost(old);
        self.chosen[class as usize] = to;
        let begun: usize = self.problem.children(to).iter().map(|&child| self.acquire(child)).sum();
        let ended: usize = self.problem.children(old).iter().map(|&child| self.release(child)).sum();
        begun + ended
    }

    /// Whether a class depends on itself. A cycle can only pass through this class.
    fn is_cyclic(&mut self, class: u32, steps: &mut Steps) -> bool {
        let depth = |class: u32| self.depths[class as usize];
        if self.children(class).iter().all(|&child| depth(child) > depth(class)) {
            return false;
        }
        let mut seen = rustc_hash::FxHashSet::default();
        let mut stack = self.children(class).to_vec();
        while let Some(at) = stack.pop() {
            if at == class || !steps.take(1) {
                return true;
            }
            if seen.insert(at) {
                stack.extend_from_slice(self.children(at));
            }
        }
        // The numbering is violated; later tests need a traversal until it is rebuilt.
        self.depths.fill(0);
        false
    }
}
