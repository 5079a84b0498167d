//! Reports of saturation: costs, search statistics, explanations, alternatives, and the e-graph.
//!
//! A report is plain data without references to the program, so reports of several functions can be combined. [`text`],
//! [`json`], [`dot`] and [`svg`] format them.

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
use egg::Id;
use std::collections::BTreeMap;

/// Name of the report, and of the report with the e-graph.
pub const REPORT: &str = "saturate-report";
/// See [`REPORT`].
pub const GRAPH: &str = "saturate-graph";

/// Id of an e-node.
pub type NodeId = u32;
/// Id of an e-class: the id of one of its nodes.
pub type ClassId = u32;

/// E-nodes by id.
pub type Terms = BTreeMap<NodeId, Term>;

fn node_id(id: Id) -> NodeId {
    usize::from(id) as NodeId
}

/// The report on a function.
#[derive(Clone, Debug)]
pub struct Report {
    /// Name of the function, or of the op.
    pub function: String,
    /// Name of the cost model.
    pub target: String,
    /// Cost of the original program.
    pub before: u64,
    /// Cost of the chosen nodes.
    pub after: u64,
    /// A lower bound of all choices, if known.
    pub bound: Option<u64>,
    /// Whether the program was replaced.
    pub changed: bool,
    /// The reason why the search ended.
    pub end: String,
    /// Whether the e-graph is saturated.
    pub saturated: bool,
    /// The iterations; the first entry is the initial state.
    pub iterations: Vec<Iteration>,
    /// Statistics of the rules that matched, by name.
    pub rules: Vec<(String, Record)>,
    /// For each value used by ops that stay in place, the original and the chosen node. Operands may be any nodes of
    /// their classes.
    pub results: Vec<(NodeId, NodeId)>,
    /// The steps from the program to the chosen nodes, in order.
    pub steps: Vec<Step>,
    /// Whether the list of steps is truncated.
    pub is_cut: bool,
    /// The needed classes with several nodes, operands before users.
    pub choices: Vec<Choice>,
    /// All classes, if requested.
    pub classes: Vec<ClassReport>,
    /// All referenced nodes and their operands.
    pub terms: Terms,
}

/// An e-node, with the operands with which it was added.
#[derive(Clone, Debug)]
pub struct Term {
    /// Its kind.
    pub kind: TermKind,
    /// Its operands.
    pub operands: Vec<NodeId>,
    /// The types of its results.
    pub types: Vec<String>,
    /// Its name in the program, if it is a value of the program.
    pub name: Option<String>,
}

/// The kind of an e-node.
#[derive(Clone, Debug)]
pub enum TermKind {
    /// A value defined by an op outside the e-graph.
    Leaf,
    /// An op.
    Op {
        /// Its name.
        op: String,
        /// Its inherent attributes, as a dictionary.
        properties: String,
        /// Its discardable attributes, as a dictionary.
        attributes: String,
        /// Its non-default attributes, for people; the value of a constant.
        shown: String,
        /// Whether it is a constant.
        constant: bool,
        /// Whether it is commutative.
        commutative: bool,
    },
    /// The projection to one of several results.
    Result(u32),
}

/// A rule application.
#[derive(Clone, Debug)]
pub struct Step {
    /// The rule.
    pub rule: String,
    /// The 1-based iteration; 0 for equalities before the search.
    pub iteration: u32,
    /// The matched node. The rule may have matched through other nodes of its operand classes.
    pub left: NodeId,
    /// The node of the right side.
    pub right: NodeId,
    /// Indices of the steps without which it would not have matched.
    pub needs: Vec<usize>,
}

/// A needed class with alternatives.
#[derive(Clone, Debug)]
pub struct Choice {
    /// The class.
    pub class: ClassId,
    /// Its name in the program, if any.
    pub name: Option<String>,
    /// Its nodes: the chosen one, then by cost.
    pub candidates: Vec<Candidate>,
    /// Number of nodes that are not listed.
    pub more: usize,
}

/// An alternative.
#[derive(Clone, Debug)]
pub struct Candidate {
    /// The node.
    pub node: NodeId,
    /// The chosen nodes of its operands.
    pub operands: Vec<NodeId>,
    /// Its own cost.
    pub own: u64,
    /// Its cost with all operands, if nothing is shared.
    pub alone: Option<u64>,
    /// The cost of the function with it, all other choices unchanged.
    pub whole: Whole,
}

/// The cost of a function with an alternative.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Whole {
    /// The alternative is chosen.
    Chosen,
    /// A cost.
    Cost(u64),
    /// Not computed because of the limit.
    Unknown,
    /// The alternative would be cyclic.
    Itself,
}

/// An e-class.
#[derive(Clone, Debug)]
pub struct ClassReport {
    /// Its id.
    pub id: ClassId,
    /// Its name in the program, if any.
    pub name: Option<String>,
    /// The type of its nodes.
    pub ty: String,
    /// Whether an op outside the e-graph uses it.
    pub is_root: bool,
    /// Whether the result needs it.
    pub is_needed: bool,
    /// Its nodes with their operand classes.
    pub nodes: Vec<(NodeId, Vec<ClassId>)>,
    /// Index of the chosen node; for classes that are not needed, the one to be chosen if they were.
    pub chosen: Option<usize>,
}
