//! Applying a rule to an e-graph: its right side becomes equal to what it matched.

use crate::graph::{Children, Key};
use crate::journal::{By, Premises};
use crate::program::Program;
use crate::search::{Bindings, Bound, Match};
use egg::Id;
use gradus_ir::rules::{Compiled, OpTerm, Term, Var};
use gradus_ir::{Attr, Loc, OpState, Type};
use smallvec::SmallVec;

/// What came of applying a rule.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Applied {
    /// Something became equal that was not.
    New,
    /// All was equal before.
    Known,
    /// There is no such right side.
    Refused,
}

/// Makes the right side of a rule, by its number, equal to a match.
pub fn apply(program: &mut Program<'_>, rules: &[Compiled], rule: usize, iteration: usize, found: Match) -> Applied {
    let Match { results, bindings, premises } = found;
    let mut right = Right { program, bindings, premises };
    let mut values: SmallVec<[Id; 2]> = SmallVec::new();
    for (term, &result) in rules[rule].right.iter().zip(&results) {
        let ty = right.type_of(result);
        let value = match term {
            Term::Op { op, result } => right.op(op, *result, ty, Some(ty)),
            other => right.term(other, ty),
        };
        match value.filter(|&value| right.type_of(value) == ty) {
            Some(value) => values.push(value),
            None => return Applied::Refused,
        }
    }
    let premises = right.premises;
    let graph = &mut program.graph;
    graph.analysis.journal.begin(By::Rule(rule as u32), iteration as u32, premises);
    let is_new = results.into_iter().zip(values).fold(false, |is_new, (old, new)| graph.union(old, new) || is_new);
    graph.analysis.journal.end();
    if is_new { Applied::New } else { Applied::Known }
}

struct Right<'p, 'm> {
    program: &'p mut Program<'m>,
    bindings: Bindings,
    premises: Premises,
}

impl Right<'_, '_> {
    fn type_of(&self, class: Id) -> Type {
        self.program.graph[class].data.ty
    }

    fn ty(&self, var: Option<Var>) -> Option<Type> {
        match self.bindings[var?]? {
            Bound::Type(ty) => Some(ty),
            _ => None,
        }
    }

    fn same(&self, a: Bound, b: Bound) -> bool {
        match (a, b) {
            (Bound::Class(a), Bound::Class(b)) => self.program.graph.find(a) == self.program.graph.find(b),
            _ => a == b,
        }
    }

    fn attr(&self, var: Var) -> Option<Attr> {
        match self.bindings[var]? {
            Bound::Attr(attr) => Some(attr),
            _ => None,
        }
    }

    /// What must be equal for a node to be an op of these operands: it was entered with others, or is the constant that they
    /// make.
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

    /// A node of a term; `root` is the type of numbers that say none.
    fn term(&mut self, term: &Term, root: Type) -> Option<Id> {
        match term {
            Term::Value { var, .. } => match self.bindings[*var]? {
                Bound::Class(node) => Some(node),
                _ => None,
            },
            Term::Constant { var, ty } => {
                let attr = self.attr(*var)?;
                let own = self.program.m.ctx.attr_type(attr)?;
                let ty = self.ty(*ty).unwrap_or(own);
                if ty == own { self.program.constant(attr, ty) } else { None }
            }
            Term::Number { value, ty } => {
                let ty = self.ty(*ty).unwrap_or(root);
                let attr = self.program.m.ctx.uniform_attr(ty, *value)?;
                self.program.constant(attr, ty)
            }
            Term::Op { op, result } => self.op(op, *result, root, None),
        }
    }

    /// Makes an op. `wanted` is the type of its only result, if the rule says none.
    fn op(&mut self, term: &OpTerm, result: usize, root: Type, wanted: Option<Type>) -> Option<Id> {
        let operands: Option<Children> = term.operands.iter().map(|t| self.term(t, root)).collect();
        let operands = operands?;
        let wanted = wanted.filter(|_| term.types.len() == 1);
        let types: Option<SmallVec<[Type; 2]>> = term.types.iter().map(|&ty| self.ty(ty).or(wanted)).collect();
        let mut state = OpState::of(term.name, Loc::UNKNOWN);
        for &operand in &operands {
            state.operands.push(self.program.graph[operand].data.value?);
        }
        state.result_types.extend(types.unwrap_or_default());
        state.props.extend(term.props(&self.program.m.ctx, |var| self.attr(var))?);
        let results = self.program.make(state, operands.clone())?;
        self.premises_of(*results.first()?, &operands);
        for ((&class, &var), &ty) in results.iter().zip(&term.results).zip(&term.types) {
            let ty_is = Bound::Type(self.type_of(class));
            for (var, is) in [(ty, ty_is), (var, Bound::Class(class))] {
                let Some(var) = var else { continue };
                let bound = *self.bindings[var].get_or_insert(is);
                if !self.same(bound, is) {
                    return None;
                }
            }
        }
        results.get(result).copied()
    }
}
