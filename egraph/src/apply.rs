//! Application of a rule to an e-graph: its right side is added and merged with the class of the match.

use crate::graph::Key;
use crate::journal::{By, Premises};
use crate::program::Program;
use crate::search::Match;
use egg::Id;
use gradus_ir::rules::{CompiledRule, RightSideBuilder, build_right_side};
use gradus_ir::{Attr, Context, OpState, Type};
use smallvec::SmallVec;

/// Outcome of applying a rule to a match.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Applied {
    /// Two classes were merged.
    New,
    /// Both sides were in one class already.
    Known,
    /// The right side is ill-typed or invalid.
    Refused,
}

/// Adds the right side of rule number `rule` and merges it with a match.
pub fn apply(
    program: &mut Program<'_>,
    rules: &[CompiledRule],
    rule: usize,
    iteration: usize,
    found: Match,
) -> Applied {
    let Match { results, bindings, premises } = found;
    let mut right = Right { program, premises };
    let Some(values) = build_right_side(&mut right, &rules[rule], bindings, &results) else { return Applied::Refused };
    let premises = right.premises;
    let graph = &mut program.graph;
    graph.analysis.journal.begin(By::Rule(rule as u32), iteration as u32, premises);
    let is_new = results.into_iter().zip(values).fold(false, |is_new, (old, new)| graph.union(old, new) || is_new);
    graph.analysis.journal.end();
    if is_new { Applied::New } else { Applied::Known }
}

struct Right<'p, 'm> {
    program: &'p mut Program<'m>,
    premises: Premises,
}

impl Right<'_, '_> {
    /// Records the equalities by which a node represents an op of these operands: it was added with other operands, or is the
    /// constant that they fold to.
    fn premises_of(&mut self, node: Id, operands: &[Id]) {
        let graph = &self.program.graph;
        let node = &graph.nodes()[usize::from(node)];
        let node = if let Key::Result(_) = node.key { &graph.nodes()[usize::from(node.children[0])] } else { node };
        let straight = |(a, b): (&Id, &Id)| graph.find(*a) == graph.find(*b);
        let pairs: Premises = match node.children.len() == operands.len() {
            false => operands.iter().map(|&operand| (operand, graph[operand].data.node)).collect(),
            true if node.children.iter().zip(operands).all(straight) => {
                node.children.iter().copied().zip(operands.iter().copied()).collect()
            }
            true => node.children.iter().copied().zip(operands.iter().rev().copied()).collect(),
        };
        self.premises.extend(pairs.into_iter().filter(|(a, b)| a != b));
    }
}

impl RightSideBuilder for Right<'_, '_> {
    type Value = Id;

    fn context(&self) -> &Context {
        &self.program.m.ctx
    }

    fn value_type(&self, class: Id) -> Type {
        self.program.graph[class].data.ty
    }

    fn is_same(&self, a: Id, b: Id) -> bool {
        self.program.graph.find(a) == self.program.graph.find(b)
    }

    fn constant(&mut self, attr: Attr, ty: Type) -> Option<Id> {
        self.program.constant(attr, ty)
    }

    fn op(&mut self, mut state: OpState, operands: &[Id]) -> Option<SmallVec<[Id; 2]>> {
        for &operand in operands {
            state.operands.push(self.program.graph[operand].data.value?);
        }
        let results = self.program.make(state, operands.into())?;
        self.premises_of(*results.first()?, operands);
        Some(results.into_iter().collect())
    }
}
