//! Extraction: one node per needed class such that the total cost is least, with shared nodes counted once (DAG cost).
//!
//! | file | contents |
//! |---|---|
//! | `problem.rs` | the optimization problem, with dense indices |
//! | `reduce.rs` | preprocessing and decomposition |
//! | `trees.rs`, `dag.rs` | heuristics: cheapest trees, local search |
//! | `disjoint.rs`, `landmarks.rs` | lower bounds |
//! | `exact.rs` | branch and bound |
//! | `steps.rs` | the step limit |

mod dag;
mod disjoint;
mod exact;
mod landmarks;
mod problem;
mod reduce;
mod steps;
#[cfg(test)]
mod tests;
mod trees;

use crate::by_class::{ByClass, Classes};
use crate::graph::{Graph, Key, Node};
use crate::program::{Program, TraversalItem};
use egg::{Id, Language};
use exact::Best;
use gradus_ir::rules::CostFn;
use problem::{CandidateNode, Chosen, Cost, NONE, Problem};
use std::fmt;
use steps::Steps;

/// Number of steps per node for restoring original choices.
const RESTORING_STEPS: usize = 10;

/// Index of the chosen node in each class. Classes that are not needed have one too if possible; the choice is acyclic.
pub type Choice = ByClass<u32>;

/// The result of an extraction.
pub struct Extraction {
    /// The choice.
    pub choice: Choice,
    /// Cost of the original program.
    pub before: Cost,
    /// Cost of the choice, at most that of the original.
    pub cost: Cost,
    /// A lower bound of all choices in the e-graph.
    pub bound: Cost,
    /// The method that found the choice.
    pub method: Method,
}

/// The method that found a choice; the most expensive one of several components.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Method {
    /// The ops of the program.
    Start,
    /// The cheapest trees.
    Trees,
    /// Local search.
    Search,
    /// Branch and bound.
    Exact,
}

impl Extraction {
    /// Whether the choice is proved optimal among those in the e-graph.
    pub fn is_optimal(&self) -> bool {
        self.cost == self.bound
    }
}

impl fmt::Display for Extraction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Extraction { before, cost, bound, method, .. } = self;
        if self.is_optimal() {
            return write!(f, "{before}, then {cost}, optimal among what the rules reached ({method})");
        }
        let gap = 100.0 * (cost - bound) as f64 / *cost as f64;
        write!(f, "{before}, then {cost}, at least {bound}: a gap of {gap:.1} % ({method})")
    }
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Method::Start => "its own ops, each once",
            Method::Trees => "cheapest trees",
            Method::Search => "local search",
            Method::Exact => "branch and bound",
        })
    }
}

/// Extracts the cheapest nodes for the roots found within `max_steps`, never more expensive than the program.
pub fn extract(program: &Program<'_>, cost: &dyn Fn(&Node) -> u64, roots: &[Id], max_steps: usize) -> Extraction {
    let before = cost_before(program, cost);
    if let Some((choice, cost)) = only(program, cost, roots) {
        return Extraction { choice, before, cost, bound: cost, method: Method::Start };
    }
    let gathered = Gathered::new(program, cost, roots);
    let reduced = reduce::reduce(&gathered.classes, &gathered.roots, &gathered.own(program));
    let mut numbers = reduced.free;
    let mut all = Extraction { choice: Choice::new(&program.graph), before, cost: 0, bound: 0, method: Method::Start };
    let mut parts = reduced.parts;
    // Steps left by small components go to large ones.
    parts.sort_by_key(|part| part.problem.num_nodes());
    let (mut left, count) = (max_steps, parts.len());
    for (i, part) in parts.iter().enumerate() {
        let mut steps = Steps(left / (count - i));
        left -= steps.0;
        let (best, method) = solve(&part.problem, &part.start, &mut steps);
        left += steps.0;
        all.cost += best.cost;
        all.bound += best.bound;
        all.method = all.method.max(method);
        part.in_whole(&best.chosen).for_each(|(class, node)| numbers[class as usize] = node);
    }
    gathered.complete(&mut numbers);
    for (id, node) in gathered.ids.into_iter().zip(numbers).filter(|(_, node)| *node != NONE) {
        all.choice.set(id, Some(node));
    }
    all
}

/// Returns the only choice and its cost, if every class has one node: the common case where no rule matched.
fn only(program: &Program<'_>, cost: &dyn Fn(&Node) -> u64, roots: &[Id]) -> Option<(Choice, Cost)> {
    let graph = &program.graph;
    if graph.classes().any(|class| class.len() > 1) {
        return None;
    }
    let (mut choice, mut total, mut stack) = (Choice::new(graph), 0, roots.to_vec());
    while let Some(id) = stack.pop() {
        if choice.set(id, Some(0)).is_none() {
            let node = &graph[id].nodes[0];
            total += Cost::from(cost(node));
            stack.extend(node.children.iter().map(|&child| graph.find(child)));
        }
    }
    Some((choice, total))
}

/// Solves a component, optimally if the steps suffice. `start` is a choice for the classes that it needs, or empty.
fn solve(problem: &Problem, start: &Chosen, steps: &mut Steps) -> (Best, Method) {
    let trees = trees::trees(problem).chosen;
    let (trees_cost, bound) = (problem.cost_of(&trees), disjoint::bound(problem));
    let mut best = Best { chosen: trees.clone(), cost: trees_cost, bound: bound.min(trees_cost) };
    let mut method = Method::Trees;
    if problem.roots.iter().all(|&root| start[root as usize] != NONE) {
        let mut whole = start.clone();
        complete(&mut whole, &trees);
        let cost = problem.cost_of(&whole);
        if cost <= best.cost {
            (best, method) = (Best { chosen: whole, cost, bound: best.bound.min(cost) }, Method::Start);
        }
    }
    if best.cost > best.bound {
        let (chosen, cost) = dag::search(problem, best.chosen.clone(), steps);
        if cost < best.cost {
            (best.chosen, best.cost, method) = (chosen, cost, Method::Search);
        }
    }
    let before = best.cost;
    if best.cost > best.bound {
        exact::improve(problem, &mut best, steps);
    }
    if best.cost < before {
        method = Method::Exact;
    }
    complete(&mut best.chosen, &trees);
    if method != Method::Start {
        best.chosen = dag::restore(problem, best.chosen, start, &mut Steps(RESTORING_STEPS * problem.num_nodes()));
        best.cost = problem.cost_of(&best.chosen);
    }
    (best, method)
}

/// Completes a choice for classes without one; chosen classes depend only on chosen ones, so it stays acyclic.
fn complete(chosen: &mut Chosen, by: &Chosen) {
    chosen.iter_mut().zip(by).filter(|(node, _)| **node == NONE).for_each(|(node, by)| *node = *by);
}

/// The classes reachable from the roots, as numbers.
struct Gathered {
    ids: Vec<Id>,
    numbers: ByClass<u32>,
    classes: Vec<Vec<CandidateNode>>,
    roots: Vec<u32>,
}

/// Returns the cost function: zero for an op on constants only, which is folded afterwards.
pub fn costs<'p>(program: &'p Program<'_>, cost_fn: &'p CostFn) -> impl Fn(&Node) -> u64 + 'p {
    let fixed = fixed(program);
    move |node| match (node.key, node.op) {
        (Key::Op { .. }, Some(op)) if !is_fixed(program, &fixed, node) => cost_fn.of(program.m, op).max(1),
        _ => 0,
    }
}

impl Gathered {
    fn new(program: &Program<'_>, cost: &dyn Fn(&Node) -> u64, roots: &[Id]) -> Gathered {
        let mut all =
            Gathered { ids: Vec::new(), numbers: ByClass::new(&program.graph), classes: Vec::new(), roots: Vec::new() };
        all.roots = roots.iter().map(|&root| all.class_index(program.graph.find(root))).collect();
        while let Some(&id) = all.ids.get(all.classes.len()) {
            let candidate = |node: &Node| CandidateNode {
                cost: cost(node),
                children: node.children.iter().map(|&child| all.class_index(program.graph.find(child))).collect(),
            };
            let class = program.graph[id].iter().map(candidate).collect();
            all.classes.push(class);
        }
        all
    }

    /// Chooses the cheapest trees for classes without a node.
    fn complete(&self, numbers: &mut Chosen) {
        if numbers.contains(&NONE) {
            let problem = Problem::new(&self.classes, self.roots.clone());
            let mut trees = trees::trees(&problem).chosen;
            for (class, node) in (0..).zip(&mut trees).filter(|(_, node)| **node != NONE) {
                *node -= problem.nodes(class).start;
            }
            complete(numbers, &trees);
        }
    }

    fn class_index(&mut self, id: Id) -> u32 {
        self.numbers.get(id).unwrap_or_else(|| {
            let number = self.ids.len() as u32;
            self.ids.push(id);
            self.numbers.set(id, Some(number));
            number
        })
    }

    /// Returns the original program as a choice: the first op of each class, which is acyclic.
    fn own(&self, program: &Program<'_>) -> Vec<u32> {
        let mut own = vec![NONE; self.classes.len()];
        for &step in &program.steps {
            let nodes = match step {
                TraversalItem::Op(op) => program.nodes_of(op),
                TraversalItem::Block(block) => program.m.block_args(block).iter().map(|&arg| Node::leaf(arg)).collect(),
            };
            for node in nodes {
                let Some((class, number)) = position(&program.graph, node) else { continue };
                if let Some(class) = self.numbers.get(class).filter(|&class| own[class as usize] == NONE) {
                    own[class as usize] = number as u32;
                }
            }
        }
        own
    }
}

/// Returns the total cost of the ops of the program.
fn cost_before(program: &Program<'_>, cost: &dyn Fn(&Node) -> u64) -> Cost {
    let ops = program.steps.iter().filter_map(|step| match step {
        TraversalItem::Op(op) if program.nodes.contains(op) => Some(*op),
        _ => None,
    });
    ops.filter_map(|op| program.node_of(op)).map(|node| Cost::from(cost(node))).sum()
}

/// Returns the classes that are constants or computed only from constants.
fn fixed(program: &Program<'_>) -> Classes {
    let (graph, mut fixed) = (&program.graph, Classes::new(&program.graph));
    let constants = graph.classes().filter(|class| class.data.constant.is_some());
    let mut work: Vec<Id> = constants.map(|class| class.id).collect();
    while let Some(id) = work.pop() {
        if fixed.add(id) {
            let parents = graph[id].parents().map(|parent| graph.find(parent));
            let is_new =
                |parent: &Id| !fixed.has(*parent) && graph[*parent].iter().any(|node| is_fixed(program, &fixed, node));
            work.extend(parents.filter(is_new));
        }
    }
    fixed
}

/// Whether a node is a constant or computed only from constants.
fn is_fixed(program: &Program<'_>, fixed: &Classes, node: &Node) -> bool {
    let m = &*program.m;
    match node.op {
        Some(op) if node.children.is_empty() => m.is_constant(op),
        _ if node.children.is_empty() => false,
        _ => node.children.iter().all(|&child| fixed.has(program.graph.find(child))),
    }
}

/// Returns the class of a node and its index in the class.
fn position(graph: &Graph, node: Node) -> Option<(Id, usize)> {
    let node = node.map_children(|child| graph.find(child));
    let class = graph.find(graph.lookup(node.clone())?);
    Some((class, graph[class].iter().position(|other| *other == node)?))
}
