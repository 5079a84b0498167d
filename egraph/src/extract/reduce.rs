//! Preprocessing: removal of dominated nodes and free classes, and decomposition into independent components.

use super::problem::{CandidateNode, Chosen, NONE, Numbers, Problem};

/// Number of nodes of a class above which only duplicates are removed.
const MAX_COMPARED: usize = 64;

/// An independent component, with its mapping to the whole problem.
pub struct IndependentComponent {
    /// The problem.
    pub problem: Problem,
    /// Class indices in the whole problem.
    classes: Vec<u32>,
    /// Node indices within their classes in the whole problem.
    nodes: Vec<u32>,
    /// The original choice for the classes that it needs; [`NONE`] for others.
    pub start: Chosen,
}

impl IndependentComponent {
    /// Returns a choice as (class, node) indices of the whole problem.
    pub fn in_whole<'p>(&'p self, chosen: &'p Chosen) -> impl Iterator<Item = (u32, u32)> + 'p {
        let all = self.classes.iter().zip(chosen).filter(|(_, node)| **node != NONE);
        all.map(|(&class, &node)| (class, self.nodes[node as usize]))
    }
}

/// A problem without free classes and dominated nodes.
pub struct Reduced {
    /// The chosen node of each class that can be made at zero cost; [`NONE`] for others.
    pub free: Vec<u32>,
    /// The independent components, to be solved separately.
    pub parts: Vec<IndependentComponent>,
}

/// Reduces a problem. `start` has the original node index of each class.
pub fn reduce(classes: &[Vec<CandidateNode>], roots: &[u32], start: &[u32]) -> Reduced {
    let free = free(classes);
    let kept: Vec<Kept> = classes
        .iter()
        .enumerate()
        .map(
            |(class, all)| {
                if free[class] == NONE { Kept::of(class as u32, all, start[class], &free) } else { Kept::default() }
            },
        )
        .collect();
    let roots: Vec<u32> = roots.iter().copied().filter(|&root| free[root as usize] == NONE).collect();
    let components = Components::of(&kept, &roots);
    let mut own_roots: Vec<Vec<u32>> = vec![Vec::new(); components.sets.len()];
    for root in roots {
        own_roots[components.set_of[root as usize] as usize].push(components.number_in_set[root as usize]);
    }
    let part = |(set, roots): (&Vec<u32>, Vec<u32>)| part_of(set, roots, &components.number_in_set, &kept, start);
    let parts = components.sets.iter().zip(own_roots).map(part).collect();
    Reduced { free, parts }
}

/// Returns the nodes of classes that can be made at zero cost.
fn free(classes: &[Vec<CandidateNode>]) -> Vec<u32> {
    let mut free = vec![NONE; classes.len()];
    let mut users: Vec<Numbers> = vec![Numbers::new(); classes.len()];
    let mut work = Vec::new();
    for (class, all) in classes.iter().enumerate() {
        for node in all.iter().filter(|node| node.cost == 0) {
            node.children.iter().for_each(|&child| users[child as usize].push(class as u32));
            work.extend(node.children.is_empty().then_some(class as u32));
        }
    }
    while let Some(class) = work.pop() {
        let is_free = |node: &CandidateNode| node.cost == 0 && node.children.iter().all(|&c| free[c as usize] != NONE);
        let all = classes[class as usize].iter().enumerate().filter(|(_, node)| is_free(node));
        if free[class as usize] == NONE
            && let Some((number, _)) = all.min_by_key(|(_, node)| node.children.len())
        {
            free[class as usize] = number as u32;
            work.extend(users[class as usize].iter().copied());
        }
    }
    free
}

/// The nodes of a class that remain.
#[derive(Default)]
struct Kept {
    nodes: Vec<CandidateNode>,
    /// Their indices in the class.
    numbers: Vec<u32>,
    /// For each node of the class, the remaining node that dominates it.
    stand_ins: Vec<u32>,
}

impl Kept {
    fn of(class: u32, all: &[CandidateNode], own: u32, free: &[u32]) -> Kept {
        let reduced = |node: &CandidateNode| {
            let mut children: Numbers = node.children.iter().copied().filter(|&c| free[c as usize] == NONE).collect();
            children.sort_unstable();
            children.dedup();
            CandidateNode { cost: node.cost, children }
        };
        let all: Vec<CandidateNode> = all.iter().map(reduced).collect();
        let mut order: Vec<u32> =
            (0..all.len() as u32).filter(|&i| !all[i as usize].children.contains(&class)).collect();
        // Dominating nodes come first: lower cost, fewer children, then the original choice.
        order.sort_by_key(|&i| (all[i as usize].cost, all[i as usize].children.len(), i != own, i));
        let mut kept = Kept { stand_ins: vec![NONE; all.len()], ..Kept::default() };
        for i in order {
            let node = &all[i as usize];
            let stand_in = kept.stand_in(node);
            kept.stand_ins[i as usize] = stand_in.unwrap_or(kept.nodes.len() as u32);
            if stand_in.is_none() {
                kept.nodes.push(node.clone());
                kept.numbers.push(i);
            }
        }
        kept
    }

    /// Returns a remaining node of at most the cost and with a subset of the children.
    fn stand_in(&self, node: &CandidateNode) -> Option<u32> {
        let within = |other: &CandidateNode| other.children.iter().all(|child| node.children.contains(child));
        self.nodes.iter().take(MAX_COMPARED).position(within).map(|i| i as u32)
    }
}

/// The reachable classes, grouped into independent components, each in order.
struct Components {
    sets: Vec<Vec<u32>>,
    set_of: Vec<u32>,
    number_in_set: Vec<u32>,
}

impl Components {
    fn of(kept: &[Kept], roots: &[u32]) -> Components {
        let mut leaders: Vec<u32> = (0..kept.len() as u32).collect();
        let reached = reached(kept, roots, &mut leaders);
        let none = vec![NONE; kept.len()];
        let mut all = Components { sets: Vec::new(), set_of: none.clone(), number_in_set: none };
        for class in reached {
            let leader = leader(&mut leaders, class) as usize;
            if all.set_of[leader] == NONE {
                all.set_of[leader] = all.sets.len() as u32;
                all.sets.push(Vec::new());
            }
            let own = all.set_of[leader];
            let set = &mut all.sets[own as usize];
            (all.set_of[class as usize], all.number_in_set[class as usize]) = (own, set.len() as u32);
            set.push(class);
        }
        all
    }
}

/// Returns the reachable classes in order. Connected classes get the same leader, the first of them.
fn reached(kept: &[Kept], roots: &[u32], leaders: &mut [u32]) -> Vec<u32> {
    let (mut seen, mut all, mut stack) = (vec![false; kept.len()], Vec::new(), roots.to_vec());
    while let Some(class) = stack.pop() {
        if std::mem::replace(&mut seen[class as usize], true) {
            continue;
        }
        all.push(class);
        for &child in kept[class as usize].nodes.iter().flat_map(|node| &node.children) {
            let (a, b) = (leader(leaders, class), leader(leaders, child));
            leaders[a.max(b) as usize] = a.min(b);
            stack.push(child);
        }
    }
    all.sort_unstable();
    all
}

fn leader(leaders: &mut [u32], mut of: u32) -> u32 {
    while leaders[of as usize] != of {
        leaders[of as usize] = leaders[leaders[of as usize] as usize];
        of = leaders[of as usize];
    }
    of
}

fn part_of(
    classes: &[u32],
    roots: Vec<u32>,
    number_in_set: &[u32],
    kept: &[Kept],
    start: &[u32],
) -> IndependentComponent {
    let renamed = |node: &CandidateNode| CandidateNode {
        cost: node.cost,
        children: node.children.iter().map(|&child| number_in_set[child as usize]).collect(),
    };
    let of = |&class: &u32| kept[class as usize].nodes.iter().map(renamed).collect();
    let all: Vec<Vec<CandidateNode>> = classes.iter().map(of).collect();
    let problem = Problem::new(&all, roots);
    let chosen = |(i, &class): (usize, &u32)| {
        let stand_in = kept[class as usize].stand_ins.get(start[class as usize] as usize).copied();
        stand_in.filter(|&node| node != NONE).map_or(NONE, |node| problem.nodes(i as u32).start + node)
    };
    let start = classes.iter().enumerate().map(chosen).collect();
    let nodes = classes.iter().flat_map(|&class| kept[class as usize].numbers.iter().copied()).collect();
    IndependentComponent { problem, classes: classes.to_vec(), nodes, start }
}
