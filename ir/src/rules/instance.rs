//! Instances of the left sides of rules: programs that a rule may fire on.

use super::{Arg, AttrTerm, Compiled, OpTerm, Term, Var};
use crate::builder::Builder;
use crate::context::{Attr, Context, OpName, Type};
use crate::edit::OpState;
use crate::loc::Loc;
use crate::module::{Module, Op, Value};
use crate::pattern_rewriter::InsertPoint;
use smallvec::SmallVec;

/// Types and inherent attributes that an op can have.
pub struct Signature {
    /// Types of its operands.
    pub operands: SmallVec<[Type; 4]>,
    /// The type of its one result.
    pub result: Type,
    /// Its inherent attributes.
    pub props: Attr,
}

/// Holds a program, and chooses what a rule leaves open.
pub trait Chooser {
    /// The program.
    fn module(&self) -> &Module;
    /// The program, to put ops into it.
    fn module_mut(&mut self) -> &mut Module;
    /// A value of a type that can be used at the place.
    fn value(&mut self, ty: Type) -> Option<Value>;
    /// The value of a constant.
    fn constant(&mut self, ty: Type) -> Option<Attr>;
    /// Types and attributes of an op, with this result and these operands where they are given.
    fn signature(&mut self, op: OpName, result: Option<Type>, operands: &[Option<Type>]) -> Option<Signature>;
}

impl Context {
    /// The names of all declared rules, in order.
    pub fn rule_names(&self) -> impl Iterator<Item = &'static str> + '_ {
        self.dialects().iter().flat_map(|d| d.rules).map(|rule| rule.name)
    }

    /// Builds an instance of the left side of a rule before an op of the chooser's program, as far as its text says; its
    /// conditions need not hold. `None`, and nothing is built, if what was chosen does not fit together.
    pub fn build_left_side(&self, rule: &str, at: Op, chooser: &mut dyn Chooser) -> Option<Value> {
        let rule = self.rules().named(rule)?;
        let bindings = smallvec::smallvec![None; rule.variables];
        let mut build = Build { at, chooser, bindings, made: Vec::new() };
        let root = build.op(&rule.left, None);
        if root.is_none() {
            let made = std::mem::take(&mut build.made);
            let m = chooser.module_mut();
            made.into_iter().rev().for_each(|op| m.erase_op(op));
        }
        root
    }
}

struct Build<'a> {
    at: Op,
    chooser: &'a mut dyn Chooser,
    bindings: SmallVec<[Option<Arg>; 8]>,
    made: Vec<Op>,
}

impl Build<'_> {
    fn module(&self) -> &Module {
        self.chooser.module()
    }

    fn bound_type(&self, var: Option<Var>) -> Option<Type> {
        self.bindings[var?].map(Arg::ty)
    }

    fn bind_type(&mut self, var: Option<Var>, ty: Type) -> Option<()> {
        let Some(var) = var else { return Some(()) };
        (*self.bindings[var].get_or_insert(Arg::Type(ty)) == Arg::Type(ty)).then_some(())
    }

    fn op(&mut self, term: &OpTerm, want: Option<Type>) -> Option<Value> {
        let want = want.or(self.bound_type(term.ty));
        let known: SmallVec<[Option<Type>; 4]> = term.operands.iter().map(|t| self.known_type(t)).collect();
        let signature = self.chooser.signature(term.name, want, &known)?;
        self.bind_type(term.ty, signature.result)?;
        let mut state = OpState::of(term.name, Loc::UNKNOWN);
        state.props = self.props(term, signature.props)?;
        for (term, ty) in term.operands.iter().zip(signature.operands) {
            let value = self.operand(term, ty)?;
            state.operands.push(value);
        }
        state.result_types.push(signature.result);
        let op = Builder::at(self.chooser.module_mut(), InsertPoint::Before(self.at)).try_create(state).ok()?;
        self.made.push(op);
        let result = self.module().result(op, 0);
        if let Some(var) = term.result {
            self.bindings[var] = Some(Arg::Value(result));
        }
        Some(result)
    }

    /// The type that a term must have by what is bound.
    fn known_type(&self, term: &Term) -> Option<Type> {
        let (var, ty) = match term {
            Term::Value { var, ty } => (Some(*var), *ty),
            Term::Constant { var, ty } => (Some(*var), *ty),
            Term::Number { ty, .. } => (None, *ty),
            Term::Op(op) => (None, op.ty),
        };
        let of_value = var.and_then(|var| match self.bindings[var]? {
            Arg::Value(v) => Some(self.module().value_type(v)),
            Arg::Attr(attr) => self.module().ctx.attr_type(attr),
            Arg::Type(_) => None,
        });
        self.bound_type(ty).or(of_value)
    }

    fn props(&mut self, term: &OpTerm, props: Attr) -> Option<Vec<(crate::context::Str, Attr)>> {
        let mut entries = self.module().ctx.dict_entries(props).to_vec();
        for (key, want) in &term.attrs {
            let at = entries.iter().position(|e| e.0 == *key)?;
            match want {
                AttrTerm::Is(attr) => entries[at].1 = *attr,
                AttrTerm::Var(var) => match self.bindings[*var] {
                    Some(bound) => entries[at].1 = bound.attr(),
                    None => self.bindings[*var] = Some(Arg::Attr(entries[at].1)),
                },
                AttrTerm::Call(_) => return None,
            }
        }
        Some(entries)
    }

    fn operand(&mut self, term: &Term, ty: Type) -> Option<Value> {
        match term {
            Term::Op(op) => self.op(op, Some(ty)).filter(|&v| self.module().value_type(v) == ty),
            Term::Value { var, ty: type_var } => {
                self.bind_type(*type_var, ty)?;
                let value = match self.bindings[*var] {
                    Some(bound) => bound.value(),
                    None => self.chooser.value(ty)?,
                };
                self.bindings[*var] = Some(Arg::Value(value));
                (self.module().value_type(value) == ty).then_some(value)
            }
            Term::Constant { var, ty: type_var } => {
                self.bind_type(*type_var, ty)?;
                let attr = match self.bindings[*var] {
                    Some(bound) => bound.attr(),
                    None => self.chooser.constant(ty)?,
                };
                self.bindings[*var] = Some(Arg::Attr(attr));
                self.constant(attr, ty)
            }
            Term::Number { value, ty: type_var } => {
                self.bind_type(*type_var, ty)?;
                let attr = self.module().ctx.uniform_attr(ty, *value)?;
                self.constant(attr, ty)
            }
        }
    }

    fn constant(&mut self, attr: Attr, ty: Type) -> Option<Value> {
        let m = self.chooser.module_mut();
        let value = Builder::at(m, InsertPoint::Before(self.at)).constant(attr, ty, "", Loc::UNKNOWN)?;
        self.made.extend(m.defining_op(value));
        Some(value)
    }
}

impl super::RuleTable {
    fn named(&self, name: &str) -> Option<&Compiled> {
        self.by_root.values().flatten().find(|rule| rule.name == name)
    }
}
