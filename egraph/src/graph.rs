//! The e-graph: what is equal, as classes of nodes.
//!
//! Every node that is an op stands for a real one: of the program, or made in a block of its own. So types are inferred, ops
//! verified and folded, and facts asked for, by the declarations of the ops, as everywhere else.

use crate::journal::Journal;
use egg::{DidMerge, EGraph, Id, Justification, Language};
use gradus_ir::{Attr, Module, Op, OpName, Traits, Type, Value};
use smallvec::SmallVec;
use std::cmp::Ordering;
use std::hash::{Hash, Hasher};

/// An e-graph of a program's values.
pub type Graph = EGraph<Node, Facts>;

/// Operands, as classes.
pub type Children = SmallVec<[Id; 4]>;

/// What a node is, but for its operands.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Key {
    /// A value that is made by something that stays where it is.
    Leaf(Value),
    /// An op; if it has several results, all of them together.
    Op {
        /// Its name.
        name: OpName,
        /// Its inherent attributes.
        props: Attr,
        /// Its other attributes.
        attrs: Attr,
        /// The type of its result; of several, the type of a function with these results.
        ty: Type,
    },
    /// One of several results of an op.
    Result(u32),
}

/// A node.
#[derive(Clone, Debug)]
pub struct Node {
    /// What it is.
    pub key: Key,
    /// Its operands.
    pub children: Children,
    /// Whether the order of its operands does not matter. They are sorted then.
    pub commutative: bool,
    /// The op that it stands for.
    pub op: Option<Op>,
    /// Its number. Of nodes that became the same, one of theirs.
    pub id: Id,
}

impl Node {
    /// A value that stays as it is.
    pub fn leaf(value: Value) -> Node {
        Node { key: Key::Leaf(value), children: Children::new(), commutative: false, op: None, id: Id::from(0) }
    }

    /// One of several results.
    pub fn result(i: u32, of: Id) -> Node {
        Node { key: Key::Result(i), children: smallvec::smallvec![of], commutative: false, op: None, id: Id::from(0) }
    }

    /// An op of these operands.
    pub fn op(m: &Module, op: Op, children: Children) -> Node {
        let commutative = m.has_trait(op, Traits::COMMUTATIVE) && children.len() == 2;
        Node { op: Some(op), ..Node::of(key_of(m, op), children, commutative) }
    }

    /// What would be the same as an op of this key.
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

/// What an op is, but for its operands.
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

// Nodes of one discriminant must be neighbours when sorted: names come before all else that tells ops apart.
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

/// By which nodes are found.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Kind {
    /// Any leaf.
    Leaf,
    /// Ops of a name.
    Op(OpName),
    /// Any result.
    Result,
}

impl Language for Node {
    type Discriminant = Kind;

    fn discriminant(&self) -> Kind {
        match self.key {
            Key::Leaf(_) => Kind::Leaf,
            Key::Op { name, .. } => Kind::Op(name),
            Key::Result(_) => Kind::Result,
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

/// What is known of every value of a class.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fact {
    /// One of them, for those who look at values; a constant if there is any. `None` for several results together.
    pub value: Option<Value>,
    /// Their type; of several results together, the type of a function with these results.
    pub ty: Type,
    /// What they are, if that is known.
    pub constant: Option<Attr>,
    /// The node of which this is known.
    pub node: Id,
}

impl Fact {
    /// What is known of a node that is about to be added.
    pub fn new(value: Option<Value>, ty: Type, constant: Option<Attr>) -> Fact {
        Fact { value, ty, constant, node: Id::from(0) }
    }
}

/// Facts of classes. Whoever adds a node says first what is known of it.
#[derive(Default, Debug)]
pub struct Facts {
    /// What is known of the node that is added next.
    pub next: Option<Fact>,
    /// Classes that became one and must not have: some rule is wrong.
    pub conflict: Option<(Fact, Fact)>,
    /// What was made equal, and why.
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
        // No fact follows from facts about operands, so that nobody has to be told.
        DidMerge(false, false)
    }
}
