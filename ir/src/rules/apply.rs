//! Matching rules and applying them greedily.

use super::{Arg, AttrTerm, Call, Compiled, NativeFn, OpTerm, Term, Var};
use crate::context::{Attr, Type};
use crate::edit::OpState;
use crate::module::{Module, Op, Value};
use crate::op_info::{FoldResult, Folded};
use crate::pattern_rewriter::PatternRewriter;
use crate::rewrite::{Rewriter, fold};
use smallvec::SmallVec;

/// What the variables stand for.
type Bindings = SmallVec<[Option<Arg>; 8]>;

/// What is still to be matched.
type Goals<'r> = SmallVec<[(&'r Term, Value); 4]>;

/// Tries a rule at an op. `true` when it fired; the program is as it was otherwise.
pub(crate) fn apply(rewriter: &mut Rewriter<'_>, rule: &Compiled, op: Op) -> bool {
    let m = rewriter.module();
    let bindings: Bindings = smallvec::smallvec![None; rule.variables];
    let Some(bindings) = match_op(m, &rule.left, op, &Goals::new(), bindings, &rule.conditions) else { return false };
    let root = m.result(op, 0);
    let mut builder = Build { rewriter, bindings: &bindings, at: op, made: SmallVec::new() };
    let root_type = builder.rewriter.module().value_type(root);
    match builder.right(&rule.right, root_type) {
        Some(value) if value != root && builder.rewriter.module().value_type(value) == root_type => {
            rewriter.replace(op, &[value]);
            true
        }
        _ => {
            let made = builder.made;
            made.into_iter().rev().for_each(|op| rewriter.discard(op));
            false
        }
    }
}

/// Matches an op and then the other goals; the bindings of the first way that satisfies the conditions.
fn match_op<'r>(
    m: &Module,
    term: &'r OpTerm,
    op: Op,
    goals: &Goals<'r>,
    mut b: Bindings,
    conditions: &[Call],
) -> Option<Bindings> {
    if m.name(op) != term.name || m.operands(op).len() != term.operands.len() || m.num_results(op) != 1 {
        return None;
    }
    let result = m.result(op, 0);
    let own_type = bind(&mut b, term.ty, Arg::Type(m.value_type(result)));
    if !own_type || !bind(&mut b, term.result, Arg::Value(result)) || !match_attrs(m, term, op, &mut b) {
        return None;
    }
    let operands = m.operands(op);
    let with = |order: &[usize]| {
        let mut goals = goals.clone();
        goals.extend(term.operands.iter().zip(order.iter().map(|&i| operands[i])).rev());
        goals
    };
    let straight: SmallVec<[usize; 4]> = (0..operands.len()).collect();
    let first = solve(m, with(&straight), b.clone(), conditions);
    if first.is_some() || !term.commutative {
        return first;
    }
    solve(m, with(&[1, 0]), b, conditions)
}

fn match_attrs(m: &Module, term: &OpTerm, op: Op, b: &mut Bindings) -> bool {
    term.attrs.iter().all(|(key, want)| {
        let Some(have) = m.ctx.dict_get(m.props(op), *key) else { return false };
        match want {
            AttrTerm::Is(attr) => *attr == have,
            AttrTerm::Var(var) => bind(b, Some(*var), Arg::Attr(have)),
            AttrTerm::Call(_) => false,
        }
    })
}

fn solve<'r>(m: &Module, mut goals: Goals<'r>, mut b: Bindings, conditions: &[Call]) -> Option<Bindings> {
    let Some((term, value)) = goals.pop() else { return conditions.iter().all(|c| holds(m, c, &b)).then_some(b) };
    let ty = Arg::Type(m.value_type(value));
    let fits = match term {
        Term::Op(inner) => {
            return match_op(m, inner, m.defining_op(value)?, &goals, b, conditions);
        }
        Term::Value { var, ty: t } => bind(&mut b, *t, ty) && bind(&mut b, Some(*var), Arg::Value(value)),
        Term::Constant { var, ty: t } => {
            let attr = m.constant(value)?;
            bind(&mut b, *t, ty) && bind(&mut b, Some(*var), Arg::Attr(attr))
        }
        Term::Number { value: number, ty: t } => {
            let attr = m.constant(value)?;
            bind(&mut b, *t, ty) && m.ctx.is_uniform(attr, *number)
        }
    };
    if fits { solve(m, goals, b, conditions) } else { None }
}

/// Makes a variable stand for something, or checks that it already does.
fn bind(b: &mut Bindings, var: Option<Var>, arg: Arg) -> bool {
    let Some(var) = var else { return true };
    *b[var].get_or_insert(arg) == arg
}

fn args_of(call: &Call, b: &Bindings) -> Option<SmallVec<[Arg; 4]>> {
    call.args.iter().map(|&var| b[var]).collect()
}

fn holds(m: &Module, call: &Call, b: &Bindings) -> bool {
    let Some(args) = args_of(call, b) else { return false };
    match call.native.run {
        NativeFn::Test(test) => test(m, &args),
        NativeFn::Attr(attr) => attr(m, &args).is_some(),
    }
}

struct Build<'b, 'r, 'm> {
    rewriter: &'b mut Rewriter<'m>,
    bindings: &'r Bindings,
    at: Op,
    made: SmallVec<[Op; 4]>,
}

impl Build<'_, '_, '_> {
    fn ty(&self, var: Option<Var>) -> Option<Type> {
        self.bindings[var?].map(Arg::ty)
    }

    /// The value of a term; `root` is the type of numbers that say none.
    fn term(&mut self, term: &Term, root: Type) -> Option<Value> {
        match term {
            Term::Value { var, .. } => self.bindings[*var].map(Arg::value),
            Term::Constant { var, .. } => {
                let attr = self.bindings[*var]?.attr();
                let ty = self.rewriter.module().ctx.attr_type(attr)?;
                self.rewriter.constant(self.at, attr, ty)
            }
            Term::Number { value, ty } => {
                let ty = self.ty(*ty).unwrap_or(root);
                let attr = self.rewriter.module().ctx.uniform_attr(ty, *value)?;
                self.rewriter.constant(self.at, attr, ty)
            }
            Term::Op(op) => self.op(op, root, self.ty(op.ty)),
        }
    }

    /// The right side, whose type is the root's.
    fn right(&mut self, term: &Term, root: Type) -> Option<Value> {
        match term {
            Term::Op(op) => self.op(op, root, Some(root)),
            other => self.term(other, root),
        }
    }

    fn op(&mut self, term: &OpTerm, root: Type, ty: Option<Type>) -> Option<Value> {
        let operands: Option<SmallVec<[Value; 4]>> = term.operands.iter().map(|t| self.term(t, root)).collect();
        let m = self.rewriter.module();
        let mut state = OpState::of(term.name, m.loc(self.at));
        state.operands = operands?;
        state.result_types.extend(ty);
        for (key, attr) in &term.attrs {
            state.props.push((*key, self.attr(attr)?));
        }
        let op = self.rewriter.create_before(self.at, state).ok()?;
        self.made.push(op);
        let m = self.rewriter.module();
        let constant = m.operands(op).iter().all(|&v| m.constant(v).is_some());
        if constant
            && let Some(Folded::Results(results)) = fold(m, op)
            && let [FoldResult::Attr(attr)] = results[..]
        {
            let ty = m.value_type(m.result(op, 0));
            return self.rewriter.constant(self.at, attr, ty);
        }
        Some(m.result(op, 0))
    }

    fn attr(&self, term: &AttrTerm) -> Option<Attr> {
        match term {
            AttrTerm::Is(attr) => Some(*attr),
            AttrTerm::Var(var) => self.bindings[*var].map(Arg::attr),
            AttrTerm::Call(call) => match call.native.run {
                NativeFn::Attr(f) => f(self.rewriter.module(), &args_of(call, self.bindings)?),
                NativeFn::Test(_) => None,
            },
        }
    }
}
