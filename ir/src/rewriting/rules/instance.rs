//! Instances of the left sides of rules: programs in which a rule may match.

use super::bindings::Bindings;
use super::{Arg, AttrTerm, CompiledRule, OpTerm, Term, Var};
use crate::builder::Builder;
use crate::builder::InsertPoint;
use crate::context::Context;
use crate::edit::OpState;
use crate::intern::{Attr, OpName, Type};
use crate::module::{Module, Op, Value};
use crate::op_info::Arity;
use crate::text::loc::Loc;
use crate::verify::verify_op;
use smallvec::SmallVec;

/// Types and inherent attributes of an op.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct OpSignature {
    /// Operand types.
    pub operands: SmallVec<[Type; 4]>,
    /// Result types.
    pub results: SmallVec<[Type; 2]>,
    /// Inherent attributes.
    pub props: Attr,
}

impl OpSignature {
    /// Whether the types agree with those that are given.
    pub fn fits(&self, results: &[Option<Type>], operands: &[Option<Type>]) -> bool {
        let same = |types: &[Type], known: &[Option<Type>]| {
            types.len() == known.len() && types.iter().zip(known).all(|(ty, known)| known.is_none_or(|k| k == *ty))
        };
        same(&self.results, results) && same(&self.operands, operands)
    }
}

/// A program under construction, with the random choices that a rule leaves open.
pub trait Chooser {
    /// Returns the program.
    fn module(&self) -> &Module;
    /// Returns the program, to insert ops.
    fn module_mut(&mut self) -> &mut Module;
    /// Chooses a value of a type that is visible at the insertion point.
    fn value(&mut self, ty: Type) -> Option<Value>;
    /// Chooses the value of a constant. `result`, the result type of its user if known, may determine extents.
    fn constant(&mut self, ty: Type, result: Option<Type>) -> Option<Attr>;
    /// Returns `true` with probability 1/2.
    fn coin(&mut self) -> bool;
    /// Chooses the types and attributes of an op, given the result and operand types that are known.
    fn signature(&mut self, op: OpName, results: &[Option<Type>], operands: &[Option<Type>]) -> Option<OpSignature>;
}

impl Context {
    /// Returns the names of the declared canonicalization rules, in order.
    pub fn rule_names(&self) -> impl Iterator<Item = &'static str> + '_ {
        self.dialects().iter().flat_map(|d| d.rules).map(|rule| rule.name)
    }

    /// Returns the names of all declared rules: those of [`Context::rule_names`], and those of rule groups.
    pub fn all_rule_names(&self) -> impl Iterator<Item = &'static str> + '_ {
        let grouped = self.dialects().iter().flat_map(|d| d.rule_groups).flat_map(|group| group.rules);
        self.rule_names().chain(grouped.map(|rule| rule.name))
    }

    /// Builds an instance of the left side of a declared rule; see [`build_left_side`].
    pub fn build_left_side(&self, rule: &str, at: Op, chooser: &mut dyn Chooser) -> Option<SmallVec<[Op; 2]>> {
        let name = self.str(rule);
        let rule = self.all_rules().find(|known| known.name == name)?;
        build_left_side(rule, at, chooser)
    }
}

/// Builds an instance of the left side of a rule before op `at` of the chooser's program; the rule's conditions need
/// not hold. Returns its roots. On failure, returns `None` and erases the new ops that are unused.
pub fn build_left_side(rule: &CompiledRule, at: Op, chooser: &mut dyn Chooser) -> Option<SmallVec<[Op; 2]>> {
    let mut build = InstanceBuilder { at, chooser, bindings: Bindings::of(rule), made: Vec::new() };
    let roots: Option<SmallVec<[Op; 2]>> = rule.roots.iter().map(|root| build.op(root, None)).collect();
    if roots.is_none() {
        let made = std::mem::take(&mut build.made);
        let m = chooser.module_mut();
        // Ops used by ops that the chooser created stay.
        for op in made.into_iter().rev() {
            if m.results(op).all(|v| m.is_unused(v)) {
                m.erase_op(op);
            }
        }
    }
    roots
}

struct InstanceBuilder<'a> {
    at: Op,
    chooser: &'a mut dyn Chooser,
    bindings: Bindings<Value>,
    made: Vec<Op>,
}

impl InstanceBuilder<'_> {
    fn module(&self) -> &Module {
        self.chooser.module()
    }

    /// Binds a variable; `None` if it is bound to something else.
    fn bind(&mut self, var: Option<Var>, arg: Arg) -> Option<()> {
        let Some(var) = var else { return Some(()) };
        (self.bindings.get_or_bind(var, arg) == arg).then_some(())
    }

    /// Builds an op. `want`: index and type of a result, if given.
    fn op(&mut self, term: &OpTerm, want: Option<(usize, Type)>) -> Option<Op> {
        let result = |(i, &var): (usize, &Option<Var>)| {
            want.filter(|(wanted, _)| *wanted == i).map(|(_, ty)| ty).or_else(|| self.bindings.ty(var))
        };
        let results: SmallVec<[Option<Type>; 2]> = term.types.iter().enumerate().map(result).collect();
        let info = self.module().ctx.op_info(term.name);
        let infers = info.is_some_and(|info| info.infer.is_some());
        // A variadic op may have any number of results.
        let counted = info.is_some_and(|info| info.results.iter().all(|spec| spec.arity == Arity::One));
        // Type inference may depend on the values of constant operands, so sometimes operands are built first.
        let first = infers && results.iter().all(Option::is_none) && self.chooser.coin();
        let mut built: SmallVec<[Option<Value>; 4]> = smallvec::smallvec![None; term.operands.len()];
        for (operand, built) in term.operands.iter().zip(&mut built).filter(|_| first) {
            if let Term::Op { op, result } = operand {
                let op = self.op(op, None)?;
                *built = Some(self.module().result(op, *result));
            }
        }
        let known = |(t, built): (&Term, &Option<Value>)| match built {
            Some(value) => Some(self.module().value_type(*value)),
            None => self.known_type(t),
        };
        let known: SmallVec<[Option<Type>; 4]> = term.operands.iter().zip(&built).map(known).collect();
        let given = self.chooser.signature(term.name, &results, &known);
        // Result types that depend on constant operands are inferred after the operands are built.
        let open = infers && (given.is_none() || counted && results.iter().all(Option::is_none));
        let nothing: SmallVec<[Option<Type>; 2]> = smallvec::smallvec![None; results.len()];
        let signature = match given {
            None if infers => self.chooser.signature(term.name, &nothing, &known)?,
            given => given?,
        };
        if !open {
            self.bind_types(term, &signature.results)?;
        }
        let mut state = OpState::of(term.name, Loc::UNKNOWN);
        state.props = self.props(term, signature.props)?;
        let result = if open { results.first().copied().flatten() } else { signature.results.first().copied() };
        for ((term, built), ty) in term.operands.iter().zip(built).zip(signature.operands) {
            let value = match built {
                Some(value) => value,
                None => self.operand(term, ty, result)?,
            };
            state.operands.push(value);
        }
        if !open {
            state.result_types.extend(signature.results);
        }
        let op = Builder::at(self.chooser.module_mut(), InsertPoint::Before(self.at)).try_create(state).ok()?;
        self.made.push(op);
        let m = self.module();
        // The chosen attributes may be invalid for the types.
        verify_op(m, op).ok()?;
        let types: SmallVec<[Type; 2]> = m.results(op).map(|v| m.value_type(v)).collect();
        self.bind_types(term, &types)?;
        for (i, &var) in term.results.iter().enumerate() {
            let result = self.module().result(op, i);
            self.bind(var, Arg::Value(result))?;
        }
        Some(op)
    }

    fn bind_types(&mut self, term: &OpTerm, types: &[Type]) -> Option<()> {
        term.types.iter().zip(types).try_for_each(|(&var, &ty)| self.bind(var, Arg::Type(ty)))
    }

    /// Returns the type of a term that follows from the bindings.
    fn known_type(&self, term: &Term) -> Option<Type> {
        let (var, ty) = match term {
            Term::Value { var, ty } | Term::Constant { var, ty } => (Some(*var), *ty),
            Term::Number { ty, .. } => (None, *ty),
            Term::Op { op, result } => (None, op.types[*result]),
        };
        let of_value = var.and_then(|var| match self.bindings.get(var)? {
            Arg::Value(v) => Some(self.module().value_type(v)),
            Arg::Attr(attr) => self.module().ctx.attr_type(attr),
            Arg::Type(_) => None,
        });
        self.bindings.ty(ty).or(of_value)
    }

    fn props(&mut self, term: &OpTerm, props: Attr) -> Option<Vec<(crate::intern::Str, Attr)>> {
        let mut entries = self.module().ctx.dict_entries(props).to_vec();
        if let Some(var) = term.others() {
            let drawn = term.not_mentioned(&self.module().ctx, props);
            let others = self.bindings.get_or_bind(var, Arg::Attr(drawn)).attr();
            entries.retain(|(key, _)| term.attrs.iter().any(|(known, _)| known == key));
            entries.extend(self.module().ctx.dict_entries(others));
        }
        for (key, want) in &term.attrs {
            let at = entries.iter().position(|e| e.0 == *key);
            let drawn = at.map(|at| entries[at].1);
            let attr = match want {
                AttrTerm::Is(attr) => *attr,
                AttrTerm::Var(var) => self.bindings.attr(*var).or(drawn)?,
                AttrTerm::Others(_) => continue,
            };
            if let AttrTerm::Var(var) = want {
                self.bindings.set(*var, Some(Arg::Attr(attr)));
            }
            match at {
                Some(at) => entries[at].1 = attr,
                None => entries.push((*key, attr)),
            }
        }
        Some(entries)
    }

    /// Builds an operand. `result`: the first result type of its user, if known.
    fn operand(&mut self, term: &Term, ty: Type, result: Option<Type>) -> Option<Value> {
        match term {
            Term::Op { op, result: i } => {
                let op = self.op(op, Some((*i, ty)))?;
                Some(self.module().result(op, *i)).filter(|&v| self.module().value_type(v) == ty)
            }
            Term::Value { var, ty: type_var } => {
                self.bind(*type_var, Arg::Type(ty))?;
                let value = match self.bindings.value(*var) {
                    Some(bound) => bound,
                    None => self.chooser.value(ty)?,
                };
                self.bindings.set(*var, Some(Arg::Value(value)));
                (self.module().value_type(value) == ty).then_some(value)
            }
            Term::Constant { var, ty: type_var } => {
                self.bind(*type_var, Arg::Type(ty))?;
                let attr = match self.bindings.attr(*var) {
                    Some(bound) => bound,
                    None => self.chooser.constant(ty, result)?,
                };
                self.bindings.set(*var, Some(Arg::Attr(attr)));
                self.constant(attr, ty)
            }
            Term::Number { value, ty: type_var } => {
                self.bind(*type_var, Arg::Type(ty))?;
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
