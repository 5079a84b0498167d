//! Translation of the chosen nodes into a program.
//!
//! The program is visited in an order in which definitions precede uses. The chosen nodes of an op's class are created
//! where the op was, unless they are available; so nothing moves into a loop. If an operand of a chosen node is not
//! available, the original op is used: all original ops stay until [`Program::close`].

use crate::by_class::{ByClass, Classes};
use crate::extract::Choice;
use crate::graph::{Children, Key, Node};
use crate::program::{Program, Results, TraversalItem, constant_of, is_masked};
use egg::Id;
use gradus_ir::dominance::Dominance;
use gradus_ir::{Block, Builder, InsertPoint, Module, Op, OpState, Value, ValueList};
use smallvec::SmallVec;

/// Creates the chosen nodes that the roots need.
pub fn write_back(program: &mut Program<'_>, root: Op, choice: &Choice, roots: &[Id]) {
    let needed = reachable(program, choice, roots);
    let mut writer = WriteBack {
        dominance: Dominance::new(program.m, root),
        values: ByClass::new(&program.graph),
        program,
        choice,
        hidden: Vec::new(),
        blocks: Vec::new(),
    };
    let steps = std::mem::take(&mut writer.program.steps);
    for &step in &steps {
        match step {
            TraversalItem::Block(block) => writer.block(block),
            TraversalItem::Op(op) if writer.program.nodes.contains(&op) => writer.node(op, &needed),
            TraversalItem::Op(op) => writer.user(op),
        }
    }
    program.steps = steps;
}

/// Folds an op on constants to a constant of any size.
fn computed(m: &mut Module, op: Op) -> Option<Value> {
    let (attr, ty) = constant_of(m, op, u64::MAX)?;
    let loc = m.loc(op);
    let value = Builder::at(m, InsertPoint::Before(op)).constant(attr, ty, "arith", loc)?;
    m.erase_op(op);
    Some(value)
}

/// Returns the classes reachable from the roots through chosen nodes.
fn reachable(program: &Program<'_>, choice: &Choice, roots: &[Id]) -> Classes {
    let mut seen = Classes::new(&program.graph);
    let mut stack: Vec<Id> = roots.iter().map(|&id| program.graph.find(id)).collect();
    while let Some(id) = stack.pop() {
        if let Some(node) = choice.get(id).filter(|_| seen.add(id)) {
            let children = &program.graph[id].nodes[node as usize].children;
            stack.extend(children.iter().map(|&child| program.graph.find(child)));
        }
    }
    seen
}

struct WriteBack<'w, 'm> {
    dominance: Dominance,
    program: &'w mut Program<'m>,
    choice: &'w Choice,
    /// The available value of each class; the first of several results.
    values: ByClass<Value>,
    /// Undo log of `values`, for leaving blocks.
    hidden: Vec<(Id, Option<Value>)>,
    /// The enclosing blocks, with the length of the undo log at their start.
    blocks: Vec<(Block, usize)>,
}

impl WriteBack<'_, '_> {
    fn define(&mut self, class: Id, value: Value) {
        let old = self.values.set(class, Some(value));
        self.hidden.push((class, old));
    }

    /// Leaves blocks until one dominates the current block.
    fn leave_until(&mut self, is_around: impl Fn(&Module, &Dominance, Block) -> bool) {
        while let Some(&(block, hidden)) = self.blocks.last() {
            if is_around(self.program.m, &self.dominance, block) {
                break;
            }
            for (class, old) in self.hidden.drain(hidden..).rev() {
                self.values.set(class, old);
            }
            self.blocks.pop();
        }
    }

    fn block(&mut self, block: Block) {
        self.leave_until(|m, dominance, around| {
            let outer = m.block_op(block).and_then(|op| m.parent_block(op));
            outer == Some(around)
                || m.parent_region(around) == m.parent_region(block) && dominance.block_dominates(around, block)
        });
        self.blocks.push((block, self.hidden.len()));
        let args = self.program.m.block_args(block).to_vec();
        args.into_iter().for_each(|arg| self.leaf(arg));
    }

    fn enter(&mut self, op: Op) {
        let own = self.program.m.parent_block(op);
        self.leave_until(|_, _, block| Some(block) == own);
    }

    /// Makes the value of a leaf available.
    fn leaf(&mut self, value: Value) {
        let Some(class) = self.program.class(value) else { return };
        if self.chosen(class).is_some_and(|node| node.key == Key::Leaf(value)) {
            self.define(class, value);
        }
    }

    fn chosen(&self, class: Id) -> Option<&Node> {
        self.choice.get(class).map(|i| &self.program.graph[class].nodes[i as usize])
    }

    /// Updates the operands of an op that stays in place.
    fn user(&mut self, op: Op) {
        self.enter(op);
        for i in 0..self.program.m.operands(op).len() {
            let old = self.program.m.operands(op)[i];
            let Some(class) = self.program.class(old) else { continue };
            // Creates no unmasked op in a masked region.
            let value = match is_masked(self.program.m, op) {
                true => self.values.get(class),
                false => self.value(class, op),
            };
            if let Some(value) = value.filter(|&value| value != old) {
                self.program.m.set_operand(op, i, value);
            }
        }
        let results: Results = self.program.m.results(op).collect();
        results.into_iter().for_each(|v| self.leaf(v));
    }

    /// Creates the chosen node of an op's class in its place, if needed.
    fn node(&mut self, op: Op, needed: &Classes) {
        self.enter(op);
        let results: Results = self.program.m.results(op).collect();
        for value in results {
            if let Some(class) = self.program.class(value).filter(|&class| needed.has(class)) {
                self.value(class, op);
            }
        }
    }

    /// Returns an available value of a class, or creates one before `at`. `None` if that is not possible.
    fn value(&mut self, class: Id, at: Op) -> Option<Value> {
        let mut stack: SmallVec<[Id; 8]> = smallvec::smallvec![class];
        while let Some(&class) = stack.last() {
            if self.values.has(class) {
                stack.pop();
                continue;
            }
            let node = self.chosen(class).filter(|node| !matches!(node.key, Key::Leaf(_)))?.clone();
            let missing = node.children.iter().map(|&child| self.program.graph.find(child));
            let missing: Children = missing.filter(|child| !self.values.has(*child)).collect();
            if missing.is_empty() {
                stack.pop();
                let value = self.make(class, &node, at)?;
                self.define(class, value);
            }
            stack.extend(missing);
        }
        self.values.get(class)
    }

    /// Creates a node from available operands.
    fn make(&mut self, class: Id, node: &Node, at: Op) -> Option<Value> {
        let graph = &self.program.graph;
        let operands: ValueList =
            node.children.iter().map(|&child| self.values.get(graph.find(child))).collect::<Option<_>>()?;
        if let Key::Result(i) = node.key {
            let m = &*self.program.m;
            return Some(m.result(m.defining_op(operands[0])?, i as usize));
        }
        let source = node.op?;
        if let Some(operands) = self.as_it_was(class, node, at) {
            self.program.m.set_operands(at, &operands);
            return Some(self.program.m.result(at, 0));
        }
        let m = &mut *self.program.m;
        let mut state = OpState::like(m, source);
        state.operands.extend(operands);
        state.result_types.extend(m.results(source).map(|v| m.value_type(v)));
        state.loc = m.loc(at);
        let op = Builder::at(m, InsertPoint::Before(at)).try_create(state).ok()?;
        Some(computed(m, op).unwrap_or_else(|| m.result(op, 0)))
    }

    /// Returns the operands of the op at this place in their original order, if the op is this node.
    fn as_it_was(&self, class: Id, node: &Node, at: Op) -> Option<ValueList> {
        let m = &*self.program.m;
        if !self.program.nodes.contains(&at) {
            return None;
        }
        let own: Option<Children> = m.operands(at).iter().map(|&v| self.program.class(v)).collect();
        let own = own?;
        let here = Node::op(m, at, own.clone());
        let same_class = m.num_results(at) > 1 || self.program.class(m.result(at, 0)) == Some(class);
        let children = node.children.iter().map(|&child| self.program.graph.find(child));
        let same = same_class && here.key == node.key && here.children.iter().copied().eq(children);
        if !same {
            return None;
        }
        own.iter().map(|&child| self.values.get(child)).collect()
    }
}
