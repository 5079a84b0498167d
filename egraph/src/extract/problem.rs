//! The extraction problem, with nodes and classes as dense indices.

use smallvec::SmallVec;
use std::ops::Range;

/// Sums of costs; exact for fewer than 2^64 nodes of cost below 2^64.
pub type Cost = u128;

/// Indices of nodes or classes.
pub type Numbers = SmallVec<[u32; 4]>;

/// A node of a class.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CandidateNode {
    /// Its own cost.
    pub cost: u64,
    /// Its operand classes.
    pub children: Numbers,
}

/// No node.
pub const NONE: u32 = u32::MAX;

/// The chosen node of each class; [`NONE`] for classes that are not needed.
pub type Chosen = Vec<u32>;

/// Classes of nodes over classes. A solution is an acyclic choice of one node per needed class with least total cost.
#[derive(Debug)]
pub struct Problem {
    /// Start of the nodes of each class.
    starts: Vec<u32>,
    classes: Vec<u32>,
    costs: Vec<u64>,
    children: Lists,
    users: Lists,
    /// The classes that every solution needs.
    pub roots: Vec<u32>,
}

impl Problem {
    /// Creates a problem.
    pub fn new(classes: &[Vec<CandidateNode>], roots: Vec<u32>) -> Problem {
        let of = |(class, all): (usize, &Vec<CandidateNode>)| vec![class as u32; all.len()];
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

    /// Returns the number of classes.
    pub fn num_classes(&self) -> usize {
        self.starts.len() - 1
    }

    /// Returns the number of nodes.
    pub fn num_nodes(&self) -> usize {
        self.classes.len()
    }

    /// Returns the nodes of a class.
    pub fn nodes(&self, class: u32) -> Range<u32> {
        self.starts[class as usize]..self.starts[class as usize + 1]
    }

    /// Returns the class of a node.
    pub fn class(&self, node: u32) -> u32 {
        self.classes[node as usize]
    }

    /// Returns the own cost of a node.
    pub fn cost(&self, node: u32) -> Cost {
        Cost::from(self.costs[node as usize])
    }

    /// Returns the distinct operand classes of a node.
    pub fn children(&self, node: u32) -> &[u32] {
        self.children.get(node)
    }

    /// Returns the nodes with this operand class.
    pub fn users(&self, class: u32) -> &[u32] {
        self.users.get(class)
    }

    /// Returns the nodes without operands.
    pub fn leaves(&self) -> impl Iterator<Item = u32> + '_ {
        (0..self.num_nodes() as u32).filter(|&node| self.children(node).is_empty())
    }

    /// Returns the classes needed by the roots under a choice.
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

    /// Returns the total cost of a choice.
    pub fn cost_of(&self, chosen: &Chosen) -> Cost {
        self.needed(chosen).into_iter().map(|class| self.cost(chosen[class as usize])).sum()
    }
}

/// Lists of numbers in one array.
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

    /// Returns the inverse relation: for each number below `len`, the lists that contain it.
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
