//! Which node is best for each class, as nothing but numbers.

use smallvec::SmallVec;
use std::ops::Range;

/// Sums of costs: of fewer than 2^64 nodes that cost less than 2^64 each, so that they are exact.
pub type Cost = u128;

/// Numbers of nodes or classes.
pub type Numbers = SmallVec<[u32; 4]>;

/// What a class can be.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Candidate {
    /// What it costs, without what it is made of.
    pub cost: u64,
    /// The classes that it is made of.
    pub children: Numbers,
}

/// No node.
pub const NONE: u32 = u32::MAX;

/// A node for each class that is needed, by its number; [`NONE`] for the others.
pub type Chosen = Vec<u32>;

/// Classes of nodes that are made of classes. Wanted is one node for each class that is needed, such that no class is made of
/// itself and the nodes cost least together.
#[derive(Debug)]
pub struct Problem {
    /// Where the nodes of each class begin.
    starts: Vec<u32>,
    classes: Vec<u32>,
    costs: Vec<u64>,
    children: Lists,
    users: Lists,
    /// The classes that are needed in any case.
    pub roots: Vec<u32>,
}

impl Problem {
    /// The problem of these classes.
    pub fn new(classes: &[Vec<Candidate>], roots: Vec<u32>) -> Problem {
        let of = |(class, all): (usize, &Vec<Candidate>)| vec![class as u32; all.len()];
        let mut starts = vec![0];
        starts.extend(classes.iter().scan(0, |sum, all| {
            *sum += all.len() as u32;
            Some(*sum)
        }));
        let all = || classes.iter().flatten();
        let children = Lists::new(all().map(|node| node.children.iter().copied()));
        Problem {
            starts,
            classes: classes.iter().enumerate().flat_map(of).collect(),
            costs: all().map(|node| node.cost).collect(),
            users: children.inverse(classes.len()),
            children,
            roots,
        }
    }

    /// How many classes there are.
    pub fn num_classes(&self) -> usize {
        self.starts.len() - 1
    }

    /// How many nodes there are.
    pub fn num_nodes(&self) -> usize {
        self.classes.len()
    }

    /// The nodes of a class.
    pub fn nodes(&self, class: u32) -> Range<u32> {
        self.starts[class as usize]..self.starts[class as usize + 1]
    }

    /// The class of a node.
    pub fn class(&self, node: u32) -> u32 {
        self.classes[node as usize]
    }

    /// What a node costs.
    pub fn cost(&self, node: u32) -> Cost {
        Cost::from(self.costs[node as usize])
    }

    /// The classes that a node is made of, each once.
    pub fn children(&self, node: u32) -> &[u32] {
        self.children.get(node)
    }

    /// The nodes that are made of a class.
    pub fn users(&self, class: u32) -> &[u32] {
        self.users.get(class)
    }

    /// The nodes that are made of nothing.
    pub fn leaves(&self) -> impl Iterator<Item = u32> + '_ {
        (0..self.num_nodes() as u32).filter(|&node| self.children(node).is_empty())
    }

    /// The classes that the roots are made of.
    pub fn needed(&self, chosen: &Chosen) -> Vec<u32> {
        let (mut seen, mut needed) = (vec![false; self.num_classes()], Vec::new());
        let mut stack = self.roots.clone();
        while let Some(class) = stack.pop() {
            if !std::mem::replace(&mut seen[class as usize], true) {
                needed.push(class);
                stack.extend_from_slice(self.children(chosen[class as usize]));
            }
        }
        needed
    }

    /// What the chosen nodes cost from which the roots are made.
    pub fn cost_of(&self, chosen: &Chosen) -> Cost {
        self.needed(chosen).into_iter().map(|class| self.cost(chosen[class as usize])).sum()
    }
}

/// Lists of numbers, in one array.
#[derive(Debug)]
pub struct Lists {
    starts: Vec<u32>,
    items: Vec<u32>,
}

impl Lists {
    fn new(lists: impl Iterator<Item = impl Iterator<Item = u32>>) -> Lists {
        let (mut starts, mut items) = (vec![0], Vec::new());
        for list in lists {
            items.extend(list);
            starts.push(items.len() as u32);
        }
        Lists { starts, items }
    }

    fn get(&self, i: u32) -> &[u32] {
        &self.items[self.starts[i as usize] as usize..self.starts[i as usize + 1] as usize]
    }

    /// For each number below `len` the lists that it is in.
    fn inverse(&self, len: usize) -> Lists {
        let mut starts = vec![0; len + 1];
        self.items.iter().for_each(|&item| starts[item as usize + 1] += 1);
        (0..len).for_each(|i| starts[i + 1] += starts[i]);
        let (mut next, mut items) = (starts.clone(), vec![0; self.items.len()]);
        for list in 0..self.starts.len() as u32 - 1 {
            for &item in self.get(list) {
                let at = &mut next[item as usize];
                items[*at as usize] = list;
                *at += 1;
            }
        }
        Lists { starts, items }
    }
}
