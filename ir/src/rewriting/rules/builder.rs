//! Construction of the right sides of rules.
//!
//! [`build_right_side`] is the single traversal of right sides. A [`RightSideBuilder`] creates the constants and ops:
//! in a program, or as nodes of an e-graph.

use super::bindings::Bindings;
use super::{Arg, CompiledRule, OpTerm, Term, Var};
use crate::context::Context;
use crate::edit::OpState;
use crate::intern::{Attr, Type};
use crate::text::loc::Loc;
use smallvec::SmallVec;

/// A builder of constants and ops on a right side.
pub trait RightSideBuilder {
    /// A value, or an e-node that represents its class.
    type Value: Copy;

    /// Returns the context.
    fn context(&self) -> &Context;

    /// Returns the type of a value.
    fn value_type(&self, value: Self::Value) -> Type;

    /// Whether two values are known to be equal.
    fn is_same(&self, a: Self::Value, b: Self::Value) -> bool;

    /// Builds a constant.
    fn constant(&mut self, attr: Attr, ty: Type) -> Option<Self::Value>;

    /// Returns the results of a valid op with these operands, new or an equivalent existing one; a constant if all
    /// operands are constant and the op folds. `state` has neither operands nor location. `None` if there is no such
    /// op.
    fn op(&mut self, state: OpState, operands: &[Self::Value]) -> Option<SmallVec<[Self::Value; 2]>>;
}

/// Builds the values that replace `results`, the results of all roots, under a substitution. `None` if a value cannot
/// be built, or its type differs from the type of the result that it replaces.
pub fn build_right_side<B: RightSideBuilder>(
    builder: &mut B,
    rule: &CompiledRule,
    bindings: Bindings<B::Value>,
    results: &[B::Value],
) -> Option<SmallVec<[B::Value; 2]>> {
    let mut build = Build { builder, bindings };
    let one = |(term, &result): (&Term, &B::Value)| {
        let ty = build.builder.value_type(result);
        let value = match term {
            Term::Op { op, result } => build.op(op, *result, ty, Some(ty)),
            other => build.term(other, ty),
        };
        value.filter(|&value| build.builder.value_type(value) == ty)
    };
    rule.right.iter().zip(results).map(one).collect()
}

struct Build<'b, B: RightSideBuilder> {
    builder: &'b mut B,
    bindings: Bindings<B::Value>,
}

impl<B: RightSideBuilder> Build<'_, B> {
    /// Builds the value of a term. `root` is the type of numbers without a type of their own.
    fn term(&mut self, term: &Term, root: Type) -> Option<B::Value> {
        match term {
            Term::Value { var, .. } => self.bindings.value(*var),
            Term::Constant { var, ty } => {
                let attr = self.bindings.attr(*var)?;
                let own = self.builder.context().attr_type(attr)?;
                let ty = self.bindings.ty(*ty).unwrap_or(own);
                if ty == own { self.builder.constant(attr, ty) } else { None }
            }
            Term::Number { value, ty } => {
                let ty = self.bindings.ty(*ty).unwrap_or(root);
                let attr = self.builder.context().uniform_attr(ty, *value)?;
                self.builder.constant(attr, ty)
            }
            Term::Op { op, result } => self.op(op, *result, root, None),
        }
    }

    /// Builds an op and returns result `result`. `wanted` is the type of its only result, if the rule gives none.
    fn op(&mut self, term: &OpTerm, result: usize, root: Type, wanted: Option<Type>) -> Option<B::Value> {
        let operands: Option<SmallVec<[B::Value; 4]>> = term.operands.iter().map(|t| self.term(t, root)).collect();
        let operands = operands?;
        let wanted = wanted.filter(|_| term.types.len() == 1);
        let types: Option<SmallVec<[Type; 2]>> = term.types.iter().map(|&ty| self.bindings.ty(ty).or(wanted)).collect();
        let mut state = OpState::of(term.name, Loc::UNKNOWN);
        state.result_types.extend(types.unwrap_or_default());
        state.props.extend(term.props(self.builder.context(), |var| self.bindings.attr(var))?);
        let values = self.builder.op(state, &operands)?;
        if values.len() != term.results.len() {
            return None;
        }
        for ((&value, &var), &ty) in values.iter().zip(&term.results).zip(&term.types) {
            let is = Arg::Type(self.builder.value_type(value));
            if !self.bind(ty, is) || !self.bind(var, Arg::Value(value)) {
                return None;
            }
        }
        values.get(result).copied()
    }

    /// Binds a variable, or checks that it is bound to an equal value.
    fn bind(&mut self, var: Option<Var>, to: Arg<B::Value>) -> bool {
        let Some(var) = var else { return true };
        match (self.bindings.get_or_bind(var, to), to) {
            (Arg::Value(a), Arg::Value(b)) => self.builder.is_same(a, b),
            (Arg::Attr(a), Arg::Attr(b)) => a == b,
            (Arg::Type(a), Arg::Type(b)) => a == b,
            _ => false,
        }
    }
}
