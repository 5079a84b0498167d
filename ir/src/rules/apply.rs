//! Matching rules and applying them greedily.

use super::price::{Price, pays};
use super::{Arg, AttrTerm, Call, Compiled, NativeFn, OpTerm, Term, Var};
use crate::edit::OpState;
use crate::intern::{Attr, Type};
use crate::module::{Module, Op, Value, ValueList};
use crate::op_info::{FoldResult, Folded};
use crate::pattern_rewriter::PatternRewriter;
use crate::rewrite::{Rewriter, fold};
use crate::verify::verify_op;
use smallvec::SmallVec;
use std::cell::Cell;

/// What the variables stand for.
type Bindings = SmallVec<[Option<Arg>; 8]>;

/// What is still to be matched.
type Goals<'r> = SmallVec<[(&'r Term, Value); 4]>;

/// An attempt to match a rule looks at no more ops: operands in both orders make many ways to match.
const FUEL: u32 = 2000;

/// So many users of a value are tried for a further root.
const MAX_USERS: usize = 100;

/// Tries a rule at an op, by itself: nothing is folded but what the rule makes. Whether it fired.
pub fn apply_at(m: &mut Module, rule: &Compiled, op: Op) -> bool {
    apply(&mut Rewriter::new(m, None, None), rule, op, None)
}

/// Whether a rule matches at an op, and its conditions hold.
pub fn matches_at(m: &Module, rule: &Compiled, op: Op) -> bool {
    find(m, rule, op).is_some()
}

/// Tries a rule at an op; if ops have a price, it must pay. `true` when it fired; the program is as it was otherwise.
pub(crate) fn apply(rewriter: &mut Rewriter<'_>, rule: &Compiled, op: Op, price: Option<Price>) -> bool {
    let m = rewriter.module();
    let Some(found) = find(m, rule, op) else { return false };
    let replaced: SmallVec<[Op; 2]> =
        (0..found.roots.len()).filter(|&i| !rule.keeps(i)).map(|i| found.roots[i]).collect();
    if replaced.is_empty() {
        return false;
    }
    let at = first_of(m, &replaced);
    let mut builder = Build { rewriter, bindings: found.bindings, at, made: SmallVec::new() };
    let values = builder.right(rule, &found.roots);
    let made = builder.made;
    let m = rewriter.module();
    let pays = |values: &ValueList| price.is_none_or(|price| pays(m, price, &made, &replaced, values));
    let Some(values) = values.filter(pays) else {
        made.into_iter().rev().for_each(|op| rewriter.discard(op));
        return false;
    };
    let mut values = values.as_slice();
    for root in found.roots {
        let (own, rest) = values.split_at(rewriter.module().num_results(root));
        values = rest;
        if !rewriter.module().results(root).eq(own.iter().copied()) {
            rewriter.replace(root, own);
        }
    }
    true
}

/// What a rule matched.
struct Found {
    bindings: Bindings,
    roots: SmallVec<[Op; 2]>,
}

/// What is known on the way.
#[derive(Clone)]
struct State<'r> {
    goals: Goals<'r>,
    bindings: Bindings,
    roots: SmallVec<[Op; 2]>,
}

/// The first way in which a rule matches at an op, and its conditions hold.
fn find(m: &Module, rule: &Compiled, op: Op) -> Option<Found> {
    let root = &rule.roots[0];
    if m.name(op) != root.name {
        return None;
    }
    let mut bindings: Bindings = smallvec::smallvec![None; rule.variables];
    rule.fixed.iter().for_each(|&(var, ty)| bindings[var] = Some(Arg::Type(ty)));
    let state = State { goals: Goals::new(), bindings, roots: smallvec::smallvec![op] };
    Matcher { m, rule, fuel: Cell::new(FUEL) }.op(root, op, state)
}

struct Matcher<'r> {
    m: &'r Module,
    rule: &'r Compiled,
    fuel: Cell<u32>,
}

impl<'r> Matcher<'r> {
    /// Matches an op and then the other goals.
    fn op(&self, term: &'r OpTerm, op: Op, mut state: State<'r>) -> Option<Found> {
        self.fuel.set(self.fuel.get().checked_sub(1)?);
        let m = self.m;
        let operands = m.operands(op);
        let right = m.name(op) == term.name
            && operands.len() == term.operands.len()
            && m.num_results(op) == term.results.len()
            && self.results(term, op, &mut state.bindings)
            && self.attrs(term, op, &mut state.bindings);
        if !right {
            return None;
        }
        if term.commutative {
            let mut straight = state.clone();
            straight.goals.extend(term.operands.iter().zip(operands.iter().copied()).rev());
            if let Some(found) = self.solve(straight) {
                return Some(found);
            }
            state.goals.extend(term.operands.iter().rev().zip(operands.iter().copied()));
        } else {
            state.goals.extend(term.operands.iter().zip(operands.iter().copied()).rev());
        }
        self.solve(state)
    }

    fn results(&self, term: &OpTerm, op: Op, b: &mut Bindings) -> bool {
        let typed = |(v, (ty, var)): (Value, (&Option<Var>, &Option<Var>))| {
            bind(b, *ty, Arg::Type(self.m.value_type(v))) && bind(b, *var, Arg::Value(v))
        };
        self.m.results(op).zip(term.types.iter().zip(&term.results)).all(typed)
    }

    fn attrs(&self, term: &OpTerm, op: Op, b: &mut Bindings) -> bool {
        let (ctx, props) = (&self.m.ctx, self.m.props(op));
        term.attrs.iter().all(|(key, want)| match want {
            AttrTerm::Is(attr) => ctx.dict_get(props, *key) == Some(*attr),
            AttrTerm::Var(var) => ctx.dict_get(props, *key).is_some_and(|have| bind(b, Some(*var), Arg::Attr(have))),
            AttrTerm::Others(var) => bind(b, Some(*var), Arg::Attr(term.not_mentioned(ctx, props))),
        })
    }

    fn solve(&self, mut state: State<'r>) -> Option<Found> {
        let Some((term, value)) = state.goals.pop() else {
            return if state.roots.len() < self.rule.roots.len() { self.next_root(&state) } else { self.done(state) };
        };
        let (m, b) = (self.m, &mut state.bindings);
        let ty = Arg::Type(m.value_type(value));
        let fits = match term {
            Term::Op { op, result } => {
                let source = m.defining_op(value)?;
                let same = m.num_results(source) > *result && m.result(source, *result) == value;
                return if same { self.op(op, source, state) } else { None };
            }
            Term::Value { var, ty: t } => bind(b, *t, ty) && bind(b, Some(*var), Arg::Value(value)),
            Term::Constant { var, ty: t } => {
                let attr = m.constant(value)?;
                bind(b, *t, ty) && bind(b, Some(*var), Arg::Attr(attr))
            }
            Term::Number { value: number, ty: t } => {
                let attr = m.constant(value)?;
                bind(b, *t, ty) && m.ctx.is_uniform(attr, *number)
            }
        };
        if fits { self.solve(state) } else { None }
    }

    /// Matches the next root: of the ops of the first one's block, one that uses or defines a value that is known.
    fn next_root(&self, state: &State<'r>) -> Option<Found> {
        let (m, term) = (self.m, &self.rule.roots[state.roots.len()]);
        let value = |var: Var| state.bindings[var].map(Arg::value);
        let source = term.results.iter().flatten().find_map(|&var| m.defining_op(value(var)?));
        let used = term.operands.iter().find_map(|operand| match operand {
            Term::Value { var, .. } => value(*var),
            _ => None,
        });
        let mut candidates: SmallVec<[Op; 8]> = source.into_iter().collect();
        if source.is_none() {
            candidates.extend(m.uses(used?).map(|(user, _)| user).take(MAX_USERS));
        }
        let block = m.parent_block(state.roots[0]);
        let fits = |op: &Op| m.parent_block(*op) == block && !state.roots.contains(op);
        candidates.into_iter().filter(fits).find_map(|op| {
            let mut next = state.clone();
            next.roots.push(op);
            self.op(term, op, next)
        })
    }

    /// All is matched: the conditions must hold, and what is computed must exist.
    fn done(&self, mut state: State<'r>) -> Option<Found> {
        let (m, rule) = (self.m, self.rule);
        let holds = |call: &Call| match call.native.run {
            NativeFn::Test(test) => args_of(call, &state.bindings).is_some_and(|args| test(m, &args)),
            NativeFn::Attr(_) => false,
        };
        if !rule.conditions.iter().all(holds) {
            return None;
        }
        for (var, call) in &rule.computed {
            let NativeFn::Attr(compute) = call.native.run else { return None };
            let attr = compute(m, &args_of(call, &state.bindings)?)?;
            state.bindings[*var] = Some(Arg::Attr(attr));
        }
        Some(Found { bindings: state.bindings, roots: state.roots })
    }
}

/// Makes a variable stand for something, or checks that it already does.
fn bind(b: &mut Bindings, var: Option<Var>, arg: Arg) -> bool {
    let Some(var) = var else { return true };
    *b[var].get_or_insert(arg) == arg
}

fn args_of(call: &Call, b: &Bindings) -> Option<SmallVec<[Arg; 4]>> {
    let params = call.params.iter().map(|&attr| Some(Arg::Attr(attr)));
    call.args.iter().map(|&var| b[var]).chain(params).collect()
}

/// Whether two ops without regions compute the same.
fn is_same(m: &Module, a: Op, b: Op) -> bool {
    let types = |op| m.results(op).map(|v| m.value_type(v));
    m.name(a) == m.name(b) && m.operands(a) == m.operands(b) && m.props(a) == m.props(b) && types(a).eq(types(b))
}

/// The op that comes first; all are in one block.
fn first_of(m: &Module, ops: &[Op]) -> Op {
    ops.iter().copied().reduce(|a, b| if is_before(m, a, b) { a } else { b }).expect("a rule has a root")
}

/// Whether `a` comes before `b` in their block. Looks in both directions at once.
fn is_before(m: &Module, a: Op, b: Op) -> bool {
    let (mut down, mut up) = (m.next_op(a), m.prev_op(a));
    loop {
        match (down, up) {
            (Some(op), _) if op == b => return true,
            (_, Some(op)) if op == b => return false,
            (None, None) => return false,
            _ => {}
        }
        down = down.and_then(|op| m.next_op(op));
        up = up.and_then(|op| m.prev_op(op));
    }
}

struct Build<'b, 'm> {
    rewriter: &'b mut Rewriter<'m>,
    bindings: Bindings,
    /// Ops are made before this one.
    at: Op,
    made: SmallVec<[Op; 4]>,
}

impl Build<'_, '_> {
    /// What replaces the results of all roots. `None` if it cannot be made, or not there.
    fn right(&mut self, rule: &Compiled, roots: &[Op]) -> Option<ValueList> {
        let m = self.rewriter.module();
        let results: ValueList = roots.iter().flat_map(|&root| m.results(root)).collect();
        let mut values = ValueList::new();
        for (term, &result) in rule.right.iter().zip(&results) {
            let ty = self.rewriter.module().value_type(result);
            let value = match term {
                Term::Op { op, result } => self.op(op, *result, ty, Some(ty))?,
                other => self.term(other, ty)?,
            };
            if self.rewriter.module().value_type(value) != ty {
                return None;
            }
            values.push(value);
        }
        let allowed = values != results && (roots.len() == 1 || self.fits(roots, &values));
        allowed.then_some(values)
    }

    /// Whether what replaces several roots is defined before the first that goes, and does not go itself.
    fn fits(&self, roots: &[Op], values: &[Value]) -> bool {
        let m = self.rewriter.module();
        let block = m.parent_block(self.at);
        let above = |v: Value| {
            let source = m.defining_op(v).filter(|&op| m.parent_block(op) == block && !self.made.contains(&op));
            source.is_none_or(|op| op == self.at || is_before(m, op, self.at))
        };
        let mut rest = values;
        let mut gone: SmallVec<[Op; 2]> = SmallVec::new();
        for &root in roots {
            let (own, others) = rest.split_at(m.num_results(root));
            rest = others;
            if m.results(root).eq(own.iter().copied()) {
                continue;
            }
            if m.results(root).zip(own).any(|(old, &new)| old == new) || !own.iter().all(|&v| above(v)) {
                return false;
            }
            gone.push(root);
        }
        let goes = |v: &Value| m.defining_op(*v).is_some_and(|op| gone.contains(&op));
        !values.iter().any(goes) && self.made.iter().flat_map(|&op| m.operands(op)).all(|&v| above(v) && !goes(&v))
    }

    fn ty(&self, var: Option<Var>) -> Option<Type> {
        self.bindings[var?].map(Arg::ty)
    }

    /// The value of a term; `root` is the type of numbers that say none.
    fn term(&mut self, term: &Term, root: Type) -> Option<Value> {
        match term {
            Term::Value { var, .. } => self.bindings[*var].map(Arg::value),
            Term::Constant { var, ty } => {
                let attr = self.bindings[*var]?.attr();
                let own = self.rewriter.module().ctx.attr_type(attr)?;
                let ty = self.ty(*ty).unwrap_or(own);
                if ty == own { self.rewriter.constant(self.at, attr, ty) } else { None }
            }
            Term::Number { value, ty } => {
                let ty = self.ty(*ty).unwrap_or(root);
                let attr = self.rewriter.module().ctx.uniform_attr(ty, *value)?;
                self.rewriter.constant(self.at, attr, ty)
            }
            Term::Op { op, result } => self.op(op, *result, root, None),
        }
    }

    /// Makes an op. `wanted` is the type of its only result, if the rule says none.
    fn op(&mut self, term: &OpTerm, result: usize, root: Type, wanted: Option<Type>) -> Option<Value> {
        let operands: Option<SmallVec<[Value; 4]>> = term.operands.iter().map(|t| self.term(t, root)).collect();
        let wanted = wanted.filter(|_| term.types.len() == 1);
        let types: Option<SmallVec<[Type; 2]>> = term.types.iter().map(|&ty| self.ty(ty).or(wanted)).collect();
        let m = self.rewriter.module();
        let mut state = OpState::of(term.name, m.loc(self.at));
        state.operands = operands?;
        state.result_types.extend(types.unwrap_or_default());
        state.props.extend(term.props(&m.ctx, |var| self.attr(var))?);
        let new = self.rewriter.create_before(self.at, state).ok()?;
        let m = self.rewriter.module();
        let op = match self.made.iter().copied().find(|&made| is_same(m, made, new)) {
            Some(made) => {
                self.rewriter.discard(new);
                made
            }
            None => {
                self.made.push(new);
                new
            }
        };
        let m = self.rewriter.module();
        if m.num_results(op) != term.results.len() || verify_op(m, op).is_err() {
            return None;
        }
        let values = match self.folded(op) {
            Some(value) => ValueList::from_slice(&[value]),
            None => self.rewriter.module().results(op).collect(),
        };
        for ((&value, &var), &ty) in values.iter().zip(&term.results).zip(&term.types) {
            let is = Arg::Type(self.rewriter.module().value_type(value));
            if !bind(&mut self.bindings, ty, is) || !bind(&mut self.bindings, var, Arg::Value(value)) {
                return None;
            }
        }
        values.get(result).copied()
    }

    /// The constant that an op of constants is.
    fn folded(&mut self, op: Op) -> Option<Value> {
        let m = self.rewriter.module();
        let constant = m.num_results(op) == 1 && m.operands(op).iter().all(|&v| m.constant(v).is_some());
        if constant
            && let Some(Folded::Results(results)) = fold(m, op)
            && let [FoldResult::Attr(attr)] = results[..]
        {
            let ty = m.value_type(m.result(op, 0));
            return self.rewriter.constant(self.at, attr, ty);
        }
        None
    }

    fn attr(&self, var: Var) -> Option<Attr> {
        self.bindings[var].map(Arg::attr)
    }
}
