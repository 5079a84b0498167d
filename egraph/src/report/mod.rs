//! What saturating a function came to, for people and for tools: what it cost, which rules led where, what else could have
//! been chosen, what is equal.
//!
//! A report is plain data that needs no program, so that those of many functions can be put together. [`text`], [`json`],
//! [`dot`] and [`svg`] write them.

mod choices;
mod dot;
mod explain;
mod gather;
mod json;
mod svg;
mod terms;
mod text;

pub use dot::dot;
pub use gather::{Gather, conflict};
pub use json::json;
pub use svg::svg;
pub use text::text;

use crate::explore::{Iteration, Record};
use std::collections::BTreeMap;

/// The name under which a report is asked for, and a picture of the e-graph with it.
pub const REPORT: &str = "saturate-report";
/// See [`REPORT`].
pub const GRAPH: &str = "saturate-graph";

/// The number of a node.
pub type NodeId = u32;
/// The number of a class: that of one of its nodes.
pub type ClassId = u32;

/// Nodes by their numbers.
pub type Terms = BTreeMap<NodeId, Term>;

/// What came of a function.
#[derive(Clone, Debug)]
pub struct Report {
    /// What is saturated: the name of a function, or of the op.
    pub function: String,
    /// What costs are counted for.
    pub target: String,
    /// What it cost.
    pub before: u64,
    /// What the chosen nodes cost together.
    pub after: u64,
    /// No choice costs less, if that is known.
    pub bound: Option<u64>,
    /// Whether the program became what was chosen.
    pub changed: bool,
    /// Why it ended.
    pub end: String,
    /// Whether the rules say no more.
    pub saturated: bool,
    /// The iterations, and before them what there was.
    pub iterations: Vec<Iteration>,
    /// The rules that matched, by name.
    pub rules: Vec<(String, Record)>,
    /// What is used by what stays, as it was and as it is chosen; operands of both may stand for what is equal to them.
    pub results: Vec<(NodeId, NodeId)>,
    /// The steps from the program to what was chosen, in the order in which they were made.
    pub steps: Vec<Step>,
    /// Whether there are steps that were not looked for, as there are too many.
    pub is_cut: bool,
    /// The classes of the result that had several nodes, operands before those that use them.
    pub choices: Vec<Choice>,
    /// All classes, if they were asked for.
    pub classes: Vec<Class>,
    /// The nodes that the others mention, and what they are made of.
    pub terms: Terms,
}

/// A node, as it was when it was added.
#[derive(Clone, Debug)]
pub struct Term {
    /// What it is.
    pub kind: TermKind,
    /// Its operands.
    pub operands: Vec<NodeId>,
    /// The types of its results.
    pub types: Vec<String>,
    /// What the program calls it, if it is in the program.
    pub name: Option<String>,
}

/// What a node is.
#[derive(Clone, Debug)]
pub enum TermKind {
    /// A value that is made by something that stays where it is.
    Leaf,
    /// An op.
    Op {
        /// Its name.
        op: String,
        /// Its inherent attributes, as a dictionary.
        properties: String,
        /// Its other attributes, as a dictionary.
        attributes: String,
        /// Those of them that are not what they usually are, for people; of constants, the value.
        shown: String,
        /// Whether it is a constant.
        constant: bool,
        /// Whether the order of its operands does not matter.
        commutative: bool,
    },
    /// One of several results.
    Result(u32),
}

/// A rule that was applied.
#[derive(Clone, Debug)]
pub struct Step {
    /// The rule.
    pub rule: String,
    /// The iteration, from 1; 0 for what was made equal before.
    pub iteration: u32,
    /// What it matched. Other nodes of the same classes may be what the rule says.
    pub left: NodeId,
    /// What is equal to that.
    pub right: NodeId,
    /// The steps, by their places in the list, that made it match.
    pub needs: Vec<usize>,
}

/// A class of the result.
#[derive(Clone, Debug)]
pub struct Choice {
    /// The class.
    pub class: ClassId,
    /// What the program calls it, if it is in the program.
    pub name: Option<String>,
    /// Its nodes; the chosen one first, then the cheapest.
    pub candidates: Vec<Candidate>,
    /// How many more there are.
    pub more: usize,
}

/// A node that could be chosen.
#[derive(Clone, Debug)]
pub struct Candidate {
    /// The node.
    pub node: NodeId,
    /// The chosen nodes of its operands.
    pub operands: Vec<NodeId>,
    /// What it costs by itself.
    pub own: u64,
    /// What it costs with all that it needs, if nothing of that is there.
    pub alone: Option<u64>,
    /// What the function would cost with it, all else chosen as it is.
    pub whole: Whole,
}

/// What a function would cost.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Whole {
    /// This is chosen.
    Chosen,
    /// So much.
    Cost(u64),
    /// It was not looked at, as there are too many.
    Unknown,
    /// It would be made of itself.
    Itself,
}

/// A class.
#[derive(Clone, Debug)]
pub struct Class {
    /// The class.
    pub id: ClassId,
    /// What the program calls it, if it is in the program.
    pub name: Option<String>,
    /// The type of its nodes.
    pub ty: String,
    /// Whether something that stays uses it.
    pub is_root: bool,
    /// Whether it is part of the result.
    pub is_needed: bool,
    /// Its nodes, with the classes of their operands.
    pub nodes: Vec<(NodeId, Vec<ClassId>)>,
    /// The chosen one, by its place; where the class is no part of the result, the one that would be.
    pub chosen: Option<usize>,
}
