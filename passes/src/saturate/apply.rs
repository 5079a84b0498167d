//! Applying a rule to an e-graph: its right side becomes equal to what it matched.

use super::graph::Children;
use super::program::Program;
use super::search::{Bindings, Bound, Match};
use egg::Id;
use gradus_ir::rules::{AttrTerm, Compiled, OpTerm, Term, Var};
use gradus_ir::{Attr, Loc, OpState, Type};
use smallvec::SmallVec;

/// Makes the right side of a rule equal to a match. Says whether anything became equal that was not.
pub fn apply(program: &mut Program<'_>, rule: &Compiled, found: Match) -> bool {
    let Match { results, bindings } = found;
    let mut right = Right { program, bindings };
    let mut values: SmallVec<[Id; 2]> = SmallVec::new();
    for (term, &result) in rule.right.iter().zip(&results) {
        let ty = right.type_of(result);
        let value = match term {
            Term::Op { op, result } => right.op(op, *result, ty, Some(ty)),
            other => right.term(other, ty),
        };
        match value.filter(|&value| right.type_of(value) == ty) {
            Some(value) => values.push(value),
            None => return false,
        }
    }
    let graph = &mut program.graph;
    results.into_iter().zip(values).fold(false, |changed, (old, new)| graph.union(old, new) || changed)
}

struct Right<'p, 'm> {
    program: &'p mut Program<'m>,
    bindings: Bindings,
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

    fn attr(&self, var: Var) -> Option<Attr> {
        match self.bindings[var]? {
            Bound::Attr(attr) => Some(attr),
            _ => None,
        }
    }

    /// The class of a term; `root` is the type of numbers that say none.
    fn term(&mut self, term: &Term, root: Type) -> Option<Id> {
        match term {
            Term::Value { var, .. } => match self.bindings[*var]? {
                Bound::Class(class) => Some(class),
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
        for (key, attr) in &term.attrs {
            match attr {
                AttrTerm::Is(attr) => state.props.push((*key, *attr)),
                AttrTerm::Var(var) => state.props.push((*key, self.attr(*var)?)),
                AttrTerm::Others(var) => {
                    let ctx = &self.program.m.ctx;
                    state.props.extend(ctx.dict_entries(term.not_mentioned(ctx, self.attr(*var)?)));
                }
            }
        }
        let results = self.program.make(state, operands)?;
        for ((&class, &var), &ty) in results.iter().zip(&term.results).zip(&term.types) {
            let ty_is = Bound::Type(self.type_of(class));
            for (var, is) in [(ty, ty_is), (var, Bound::Class(class))] {
                if let Some(var) = var
                    && *self.bindings[var].get_or_insert(is) != is
                {
                    return None;
                }
            }
        }
        results.get(result).copied()
    }
}
