//! Translation of a program into an e-graph.

use crate::graph::{Children, Fact, Graph, Key, Node, NodeKind, rebuild};
use egg::Id;
use gradus_dialects::op_cost::elements;
use gradus_ir::dominance::{Dominance, is_graph};
use gradus_ir::effects::is_speculatable;
use gradus_ir::rewrite::fold;
use gradus_ir::verify::verify_op;
use gradus_ir::{
    Attr, Block, Builder, FoldResult, Folded, Module, Op, OpName, OpState, Region, Str, Traits, Type, Value,
};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

/// The values of an op's regions as e-classes. Ops without effects are nodes; other ops stay in place, and their
/// results are leaves.
pub struct Program<'m> {
    /// The module.
    pub m: &'m mut Module,
    /// The e-graph.
    pub graph: Graph,
    /// A node of each value's class.
    classes: FxHashMap<Value, Id>,
    /// The ops that are nodes.
    pub nodes: FxHashSet<Op>,
    /// Blocks and ops in an order in which definitions precede uses.
    pub steps: Vec<TraversalItem>,
    /// A scratch block for ops that exist only as nodes.
    workshop: Block,
    /// The key of single-result ops by shape, and whether they are commutative.
    shapes: FxHashMap<Shape, (Key, bool)>,
    /// Folded ops on constants.
    folded: FxHashMap<(Shape, SmallVec<[Attr; 4]>), Id>,
    /// Constants created by folding.
    constants: FxHashMap<(Attr, Type), Id>,
}

/// The results of an op.
pub type Results = SmallVec<[Value; 4]>;

/// The signature of an op: name, attributes, given result types, operand types.
type Shape = (OpName, Vec<(Str, Attr)>, SmallVec<[Type; 2]>, SmallVec<[Type; 4]>);

impl<'m> Program<'m> {
    /// Enters the regions of an op that is isolated from above.
    pub fn new(m: &'m mut Module, root: Op) -> Program<'m> {
        let steps = in_order(m, root);
        let workshop = m.create_block();
        let mut program = Program {
            m,
            graph: Graph::default(),
            classes: FxHashMap::default(),
            nodes: FxHashSet::default(),
            steps: Vec::new(),
            workshop,
            shapes: FxHashMap::default(),
            folded: FxHashMap::default(),
            constants: FxHashMap::default(),
        };
        program.classes.reserve(steps.len());
        program.nodes.reserve(steps.len());
        for &step in &steps {
            match step {
                TraversalItem::Block(block) => {
                    let args = program.m.block_args(block).to_vec();
                    args.into_iter().for_each(|arg| program.leaf(arg));
                }
                TraversalItem::Op(op) => program.enter(op),
            }
        }
        program.steps = steps;
        rebuild(&mut program.graph);
        program
    }

    /// Returns the class of a value, if it has one.
    pub fn class(&self, value: Value) -> Option<Id> {
        self.classes.get(&value).map(|&id| self.graph.find(id))
    }

    /// Returns the node as which a value was entered.
    pub fn entered(&self, value: Value) -> Option<Id> {
        self.classes.get(&value).copied()
    }

    /// Returns the program value of a node, the first of several.
    pub fn value_of(&self, node: &Node) -> Option<Value> {
        match (node.key, node.op) {
            (Key::Leaf(value), _) => Some(value),
            (Key::Op { .. }, Some(op)) if self.nodes.contains(&op) => self.m.results(op).next(),
            _ => None,
        }
    }

    /// Returns the classes used by ops that stay in place.
    pub fn roots(&self) -> Vec<Id> {
        let users = self.steps.iter().filter_map(|step| match step {
            TraversalItem::Op(op) if !self.nodes.contains(op) => Some(*op),
            _ => None,
        });
        let mut roots: Vec<Id> = users.flat_map(|op| self.m.operands(op)).filter_map(|&v| self.class(v)).collect();
        roots.sort_unstable();
        roots.dedup();
        roots
    }

    /// Returns the nodes of an op: one, plus a projection for each of several results; leaves for an op that stays in
    /// place.
    pub fn nodes_of(&self, op: Op) -> Vec<Node> {
        let results = || self.m.results(op);
        if !self.nodes.contains(&op) {
            return results().map(Node::leaf).collect();
        }
        let operands: Option<Children> = self.m.operands(op).iter().map(|&v| self.class(v)).collect();
        let Some(operands) = operands else { return Vec::new() };
        let node = Node::op(self.m, op, operands);
        let all = self.graph.lookup(node.clone()).filter(|_| results().len() != 1);
        let one = |all: Id| (0..self.m.num_results(op) as u32).map(move |i| Node::result(i, all));
        let ones: Vec<Node> = all.into_iter().flat_map(one).collect();
        std::iter::once(node).chain(ones).collect()
    }

    /// Returns the node as which an op was entered, with its original operands.
    pub fn node_of(&self, op: Op) -> Option<&Node> {
        let entered = |id: Id| &self.graph.nodes()[usize::from(id)];
        let node = entered(self.entered(self.m.results(op).next()?)?);
        Some(if let Key::Result(_) = node.key { entered(node.children[0]) } else { node })
    }

    fn leaf(&mut self, value: Value) {
        let fact = Fact::new(Some(value), self.m.value_type(value), None);
        let id = self.add(Node::leaf(value), fact);
        self.classes.insert(value, id);
    }

    fn enter(&mut self, op: Op) {
        let operands: Option<Children> = self.m.operands(op).iter().map(|v| self.classes.get(v).copied()).collect();
        let Some(operands) = operands.filter(|_| only_computes(self.m, op)) else {
            let results: Results = self.m.results(op).collect();
            return results.into_iter().for_each(|v| self.leaf(v));
        };
        self.nodes.insert(op);
        let ids = self.add_op(op, operands);
        self.classes.extend(self.m.results(op).zip(ids));
    }

    /// Returns the classes of an op's results.
    fn add_op(&mut self, op: Op, operands: Children) -> Children {
        let m = &*self.m;
        let node = Node::op(m, op, operands);
        let results: Results = m.results(op).collect();
        if let [value] = results[..] {
            let fact = Fact::new(Some(value), m.value_type(value), m.constant(value));
            return smallvec::smallvec![self.add(node, fact)];
        }
        let Key::Op { ty, .. } = node.key else { return Children::new() };
        let all = self.add(node, Fact::new(None, ty, None));
        let one = |(i, value): (usize, Value)| {
            let fact = Fact::new(Some(value), self.m.value_type(value), None);
            self.add(Node::result(i as u32, all), fact)
        };
        results.into_iter().enumerate().map(one).collect()
    }

    /// Adds a node and returns its id, which stays valid when its class is merged.
    fn add(&mut self, node: Node, fact: Fact) -> Id {
        self.graph.analysis.next = Some(fact);
        self.graph.add_uncanonical(Node { id: Id::from(self.graph.nodes().len()), ..node })
    }

    /// Creates an op with classes as operands and returns the classes of its results, folded to constants where
    /// possible. Returns `None` if the op is ill-typed or invalid.
    pub fn make(&mut self, state: OpState, operands: Children) -> Option<Children> {
        let types = state.operands.iter().map(|&value| self.m.value_type(value)).collect();
        let shape = (state.name, state.props.clone(), state.result_types.clone(), types);
        let constants: Option<SmallVec<[Attr; 4]>> = operands.iter().map(|&id| self.graph[id].data.constant).collect();
        let existing = match &constants {
            Some(constants) => self.folded.get(&(shape.clone(), constants.clone())).copied(),
            None => self.existing(&shape, &operands),
        };
        if let Some(id) = existing {
            return Some(smallvec::smallvec![id]);
        }
        let op = Builder::at_end(self.m, self.workshop).try_create(state).ok()?;
        let sound = verify_op(self.m, op).is_ok() && only_computes(self.m, op);
        if !sound {
            self.m.erase_op(op);
            return None;
        }
        if let Some((attr, ty)) = constant_of(self.m, op, SMALL) {
            self.m.erase_op(op);
            let id = self.constant(attr, ty)?;
            self.folded.extend(constants.map(|constants| ((shape, constants), id)));
            return Some(smallvec::smallvec![id]);
        }
        let results = self.made(op, operands);
        if let [id] = results[..] {
            let node = &self.graph.nodes()[usize::from(id)];
            self.shapes.insert(shape, (node.key, node.commutative));
        }
        Some(results)
    }

    /// Returns the existing node of an op, found without creating, inferring and verifying the op.
    fn existing(&mut self, shape: &Shape, operands: &Children) -> Option<Id> {
        let &(key, commutative) = self.shapes.get(shape)?;
        let node = Node::of(key, operands.clone(), commutative);
        self.graph.lookup(node.clone())?;
        Some(self.graph.add_uncanonical(node))
    }

    /// Returns the node of a constant.
    pub fn constant(&mut self, attr: Attr, ty: Type) -> Option<Id> {
        if let Some(&id) = self.constants.get(&(attr, ty)) {
            return Some(id);
        }
        let loc = gradus_ir::Loc::UNKNOWN;
        let value = Builder::at_end(self.m, self.workshop).constant(attr, ty, "arith", loc)?;
        let op = self.m.defining_op(value)?;
        let id = self.made(op, Children::new())[0];
        self.constants.insert((attr, ty), id);
        Some(id)
    }

    /// Adds an op of the scratch block, which is erased if an equal node exists.
    fn made(&mut self, op: Op, operands: Children) -> Children {
        let count = self.graph.nodes().len();
        let ids = self.add_op(op, operands);
        if self.graph.nodes().len() == count {
            self.m.erase_op(op);
        }
        ids
    }

    /// Returns the classes with nodes of a kind, in order.
    pub fn classes_of(&self, kind: NodeKind) -> Vec<Id> {
        let mut ids: Vec<Id> =
            self.graph.classes_for_op(&kind).into_iter().flatten().map(|id| self.graph.find(id)).collect();
        ids.sort_unstable();
        ids.dedup();
        ids
    }

    /// Returns the number of distinct nodes.
    pub fn num_nodes(&self) -> usize {
        self.graph.classes().map(egg::EClass::len).sum()
    }

    /// Erases the scratch block and, if the program was changed, dead ops.
    pub fn close(self, changed: bool) {
        let ops: Vec<Op> = self.m.block_ops(self.workshop).collect();
        ops.into_iter().rev().for_each(|op| self.m.erase_op(op));
        self.m.erase_block(self.workshop);
        for step in self.steps.into_iter().rev().filter(|_| changed) {
            if let TraversalItem::Op(op) = step
                && self.nodes.contains(&op)
                && self.m.results(op).all(|v| self.m.is_unused(v))
            {
                self.m.erase_op(op);
            }
        }
    }
}

/// Whether an op is the masked op of a `vector.mask`, so that its semantics depend on its place.
pub fn is_masked(m: &Module, op: Op) -> bool {
    m.parent_op(op).is_some_and(|around| m.has_trait(around, Traits::MASKING))
}

/// Whether an op depends only on its operands and attributes.
fn only_computes(m: &Module, op: Op) -> bool {
    !is_masked(m, op)
        && m.regions(op).is_empty()
        && m.successors(op).is_empty()
        && m.num_results(op) > 0
        && !m.has_trait(op, Traits::TERMINATOR)
        && !m.has_trait(op, Traits::SYMBOL)
        && is_speculatable(m, op)
}

/// Maximum number of elements of constants folded during search; rules create many of them. Larger ones are folded
/// after extraction.
const SMALL: u64 = 1 << 16;

/// Returns the constant value of an op on constants, if it has at most `most` elements.
pub fn constant_of(m: &Module, op: Op, most: u64) -> Option<(Attr, Type)> {
    let operands = m.operands(op);
    if operands.is_empty() || m.num_results(op) != 1 || operands.iter().any(|&v| m.constant(v).is_none()) {
        return None;
    }
    if m.with_args(op, |args| elements(args, args.result_types[0])).is_none_or(|count| count > most) {
        return None;
    }
    match fold(m, op)? {
        Folded::Results(results) => match results[..] {
            [FoldResult::Attr(attr)] if attr != m.ctx.poison_attr() => Some((attr, m.value_type(m.result(op, 0)))),
            // An operand that stays as it is.
            [FoldResult::Value(value)] => Some((m.constant(value)?, m.value_type(value))),
            _ => None,
        },
        Folded::InPlace => None,
    }
}

/// An item of the traversal of regions.
#[derive(Clone, Copy)]
pub enum TraversalItem {
    /// The start of a block.
    Block(Block),
    /// An op.
    Op(Op),
}

/// Returns the blocks and ops under an op in an order in which definitions precede uses, without graph regions and unreachable blocks.
fn in_order(m: &Module, root: Op) -> Vec<TraversalItem> {
    let dominance = Dominance::new(m, root);
    let regions = |op: Op| m.regions(op).iter().rev().copied().map(Work::Region);
    let (mut steps, mut work) = (Vec::new(), regions(root).collect::<Vec<_>>());
    while let Some(next) = work.pop() {
        match next {
            Work::Region(region) if is_graph(m, region) => {}
            Work::Region(region) => work.extend(dominance.preorder(m, region).into_iter().rev().map(Work::Block)),
            Work::Block(block) => {
                steps.push(TraversalItem::Block(block));
                work.extend(m.block_ops(block).collect::<Vec<_>>().into_iter().rev().map(Work::Op));
            }
            Work::Op(op) => {
                steps.push(TraversalItem::Op(op));
                if !m.has_trait(op, Traits::ISOLATED) {
                    work.extend(regions(op));
                }
            }
        }
    }
    steps
}

enum Work {
    Region(Region),
    Block(Block),
    Op(Op),
}
