//! The e-graph.
//!
//! Every e-node of an op has a real op: one of the program, or one in a scratch block. So inference, verification,
//! folding and facts come from the declarations.

use crate::journal::Journal;
use egg::{DidMerge, EGraph, Id, Justification, Language};
use gradus_ir::{Attr, Module, Op, OpName, Traits, Type, Value};
use smallvec::SmallVec;
use std::cmp::Ordering;
use std::hash::{Hash, Hasher};

/// The e-graph of a program's values.
pub type Graph = EGraph<Node, Facts>;

/// Restores congruence and hash-consing after unions, with a clock that does not run: egg measures how long this takes, with a clock whose first use
/// takes some 30 ms of calibration, and no report of ours contains that time.
pub fn rebuild(graph: &mut Graph) {
    let (still, _) = quanta::Clock::mock();
    quanta::with_clock(&still, || graph.rebuild());
}

/// Operands, as e-classes.
pub type Children = SmallVec<[Id; 4]>;

/// An e-node without its operands.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Key {
    /// A value defined by an op outside the e-graph.
    Leaf(Value),
    /// An op, with all of its results together.
    Op {
        /// Its name.
        name: OpName,
        /// Its inherent attributes.
        props: Attr,
        /// Its other attributes.
        attrs: Attr,
        /// The result type; for several results, a function type with these results.
        ty: Type,
    },
    /// The projection to one of several results.
    Result(u32),
}

/// An e-node.
#[derive(Clone, Debug)]
pub struct Node {
    /// Its op, constant or argument.
    pub key: Key,
    /// Its operands.
    pub children: Children,
    /// Whether operands are kept sorted because the op is commutative.
    pub commutative: bool,
    /// The op that it represents.
    pub op: Option<Op>,
    /// Its id; merged duplicates keep one of theirs.
    pub id: Id,
}

impl Node {
    /// Creates a leaf.
    pub fn leaf(value: Value) -> Node {
        Node { key: Key::Leaf(value), children: Children::new(), commutative: false, op: None, id: Id::from(0) }
    }

    /// Creates a projection.
    pub fn result(i: u32, of: Id) -> Node {
        Node { key: Key::Result(i), children: smallvec::smallvec![of], commutative: false, op: None, id: Id::from(0) }
    }

    /// Creates the node of an op.
    pub fn op(m: &Module, op: Op, children: Children) -> Node {
        let commutative = m.has_trait(op, Traits::COMMUTATIVE) && children.len() == 2;
        Node { op: Some(op), ..Node::of(key_of(m, op), children, commutative) }
    }

    /// Creates a node from a key.
    pub fn of(key: Key, children: Children, commutative: bool) -> Node {
        let mut node = Node { key, children, commutative, op: None, id: Id::from(0) };
        node.sort();
        node
    }

    fn sort(&mut self) {
        if self.commutative {
            self.children.sort_unstable();
        }
    }

    fn identity(&self) -> (Key, &[Id]) {
        (self.key, &self.children)
    }
}

/// Returns the key of an op.
fn key_of(m: &Module, op: Op) -> Key {
    let types: SmallVec<[Type; 2]> = m.results(op).map(|v| m.value_type(v)).collect();
    let ty = match types[..] {
        [ty] => ty,
        _ => m.ctx.function_type(&[], &types),
    };
    Key::Op { name: m.name(op), props: m.props(op), attrs: m.attrs(op), ty }
}

impl PartialEq for Node {
    fn eq(&self, other: &Node) -> bool {
        self.identity() == other.identity()
    }
}

impl Eq for Node {}

impl PartialOrd for Node {
    fn partial_cmp(&self, other: &Node) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

// Nodes with equal discriminants have to be adjacent when sorted, so names come first.
impl Ord for Node {
    fn cmp(&self, other: &Node) -> Ordering {
        self.identity().cmp(&other.identity())
    }
}

impl Hash for Node {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.identity().hash(state);
    }
}

/// The discriminant by which nodes are found.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum NodeKind {
    /// Any leaf.
    Leaf,
    /// Ops of a name.
    Op(OpName),
    /// Any projection.
    Result,
}

impl Language for Node {
    type Discriminant = NodeKind;

    fn discriminant(&self) -> NodeKind {
        match self.key {
            Key::Leaf(_) => NodeKind::Leaf,
            Key::Op { name, .. } => NodeKind::Op(name),
            Key::Result(_) => NodeKind::Result,
        }
    }

    fn matches(&self, other: &Node) -> bool {
        self.key == other.key && self.children.len() == other.children.len()
    }

    fn children(&self) -> &[Id] {
        &self.children
    }

    fn children_mut(&mut self) -> &mut [Id] {
        &mut self.children
    }

    fn update_children<F: FnMut(Id) -> Id>(&mut self, mut f: F) {
        self.children.iter_mut().for_each(|id| *id = f(*id));
        self.sort();
    }
}

/// The analysis data of an e-class.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fact {
    /// A representative value, preferably a constant; `None` for several results together.
    pub value: Option<Value>,
    /// The type; for several results together, a function type with these results.
    pub ty: Type,
    /// The constant value, if known.
    pub constant: Option<Attr>,
    /// The node from which the facts come.
    pub node: Id,
}

impl Fact {
    /// Creates the facts of a node that is about to be added.
    pub fn new(value: Option<Value>, ty: Type, constant: Option<Attr>) -> Fact {
        Fact { value, ty, constant, node: Id::from(0) }
    }
}

/// The analysis. The facts of a node are set before it is added.
#[derive(Default, Debug)]
pub struct Facts {
    /// Facts of the node that is added next.
    pub next: Option<Fact>,
    /// Facts of two merged classes that contradict each other: a rule is wrong.
    pub conflict: Option<(Fact, Fact)>,
    /// The record of all merges.
    pub journal: Journal,
}

impl egg::Analysis<Node> for Facts {
    type Data = Fact;

    fn make(graph: &mut Graph, _: &Node, id: Id) -> Fact {
        let fact = graph.analysis.next.take().expect("whoever adds a node says what is known of it");
        Fact { node: id, ..fact }
    }

    fn remake(graph: &mut Graph, _: &Node, id: Id) -> Fact {
        graph[id].data.clone()
    }

    fn pre_union(graph: &Graph, a: Id, b: Id, why: &Option<Justification>) {
        graph.analysis.journal.announce([a, b], matches!(why, Some(Justification::Congruence)));
    }

    fn merge(&mut self, to: &mut Fact, from: Fact) -> DidMerge {
        self.journal.join();
        let differ = to.constant.is_some() && from.constant.is_some() && to.constant != from.constant;
        if to.ty != from.ty || differ {
            self.conflict.get_or_insert_with(|| (to.clone(), from.clone()));
        }
        if to.constant.is_none() && from.constant.is_some() {
            *to = from;
        }
        // No fact depends on facts of operands, so parents need no update.
        DidMerge(false, false)
    }
}
