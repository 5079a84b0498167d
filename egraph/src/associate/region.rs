//! Which ops are in a region.

use crate::program::{Program, Step};
use egg::Id;
use gradus_ir::{Attr, Module, Op, Traits, Type, Value};
use rustc_hash::{FxHashMap, FxHashSet};

/// A sum of more operands is left as it is.
const MAX_OPERANDS: usize = 1 << 16;

/// The op that computes what a region does.
#[derive(Clone, Copy)]
pub struct Root {
    /// The op.
    pub op: Op,
    /// How many operands it has, with those of the ops in the region.
    pub operands: usize,
    /// Whether their order does not matter.
    pub commutative: bool,
    /// Whether it is in no other region.
    pub is_whole: bool,
}

/// The regions of a program, those that are made of others first.
pub struct Regions {
    /// The associative ops, and how many operands they have with those of the ops that they are made of.
    operands: FxHashMap<Op, usize>,
    /// In the order of the program.
    ops: Vec<Op>,
    /// Those that compute what a region does; `true` for those that are in no other region.
    roots: FxHashMap<Op, bool>,
}

impl Regions {
    /// The regions of a program. With `approx`, rounding does not matter.
    pub fn of(program: &Program<'_>, approx: bool) -> Regions {
        let mut all = Regions { operands: FxHashMap::default(), ops: Vec::new(), roots: FxHashMap::default() };
        let mut inner = FxHashSet::default();
        let m = &*program.m;
        for &step in &program.steps {
            let Step::Op(op) = step else { continue };
            if !program.nodes.contains(&op) || !is_associative(m, op, approx) {
                continue;
            }
            let part = |&value: &Value| all.inner(program, op, value).map_or(1, |inner| all.operands[&inner]);
            let count = m.operands(op).iter().map(part).fold(0, usize::saturating_add);
            inner.extend(m.operands(op).iter().filter_map(|&value| all.inner(program, op, value)));
            all.operands.insert(op, count);
            all.ops.push(op);
        }
        for &op in &all.ops {
            let is_in =
                |user: Op| all.operands.contains_key(&user) && all.inner(program, user, m.result(op, 0)).is_some();
            let whole = !inner.contains(&op) || !m.uses(m.result(op, 0)).all(|(user, _)| is_in(user));
            if whole {
                all.roots.insert(op, true);
            }
        }
        all
    }

    /// The next root, with more than two operands.
    pub fn next(&mut self, m: &Module) -> Option<Root> {
        loop {
            let op = self.ops.pop()?;
            let (operands, commutative) = (self.operands[&op], m.has_trait(op, Traits::COMMUTATIVE));
            if let Some(&is_whole) = self.roots.get(&op)
                && operands > 2
            {
                return Some(Root { op, operands, commutative, is_whole });
            }
        }
    }

    /// Leaves an op as it is; what it is made of becomes roots.
    pub fn divide(&mut self, program: &Program<'_>, op: Op) {
        for &value in program.m.operands(op) {
            if let Some(inner) = self.inner(program, op, value) {
                self.roots.entry(inner).or_insert(false);
            }
        }
    }

    /// The operands of a region, in order. There must not be too many.
    pub fn operands(&self, program: &Program<'_>, root: Op) -> Option<Vec<Id>> {
        if self.operands[&root] > MAX_OPERANDS {
            return None;
        }
        let mut operands = Vec::new();
        let mut stack: Vec<(Op, Value)> = program.m.operands(root).iter().rev().map(|&value| (root, value)).collect();
        while let Some((user, value)) = stack.pop() {
            match self.inner(program, user, value) {
                Some(op) => stack.extend(program.m.operands(op).iter().rev().map(|&value| (op, value))),
                None => operands.push(program.entered(value)?),
            }
        }
        Some(operands)
    }

    /// The op of the same kind that a value is computed by.
    fn inner(&self, program: &Program<'_>, user: Op, value: Value) -> Option<Op> {
        let m = &*program.m;
        let same = |&op: &Op| m.name(op) == m.name(user) && self.operands.contains_key(&op) && alike(m, op, user);
        m.defining_op(value).filter(same)
    }
}

/// Whether an op is associative, with others of its name and of such types.
fn is_associative(m: &Module, op: Op, approx: bool) -> bool {
    let is_binary = m.operands(op).len() == 2 && m.num_results(op) == 1;
    let rounds = |ty: Type| m.ctx.float_kind(m.ctx.element_type(ty)).is_some();
    is_binary
        && m.has_trait(op, Traits::ASSOCIATIVE)
        && (approx || !types(m, op).any(rounds))
        && m.attrs(op) == Attr::EMPTY_DICT
        && promises_nothing(m, op)
        && alike(m, op, op)
}

/// Whether operands and results of both are of one type, or tensors of one rank that is no less than 2: with vectors among
/// them, a matrix product is not associative.
fn alike(m: &Module, a: Op, b: Op) -> bool {
    let mut all = types(m, a).chain(types(m, b));
    let first = m.value_type(m.result(a, 0));
    let rank = |ty: Type| m.ctx.shape(ty).map(<[i64]>::len).filter(|&rank| rank > 1);
    let elem = |ty: Type| m.ctx.element_type(ty);
    all.all(|ty| ty == first || rank(ty).is_some() && rank(ty) == rank(first) && elem(ty) == elem(first))
}

fn types(m: &Module, op: Op) -> impl Iterator<Item = Type> + '_ {
    m.operands(op).iter().copied().chain(m.results(op)).map(|value| m.value_type(value))
}

/// Whether all attributes are what they are on an op that does not say otherwise. What is promised of some sums is not of
/// others.
fn promises_nothing(m: &Module, op: Op) -> bool {
    let info = m.info(op);
    m.ctx.dict_entries(m.props(op)).iter().all(|&(key, attr)| {
        let default = info.and_then(|info| info.attr(m.ctx.text(key))).and_then(|spec| spec.default);
        default.is_some_and(|text| m.ctx.default_attr(text) == attr)
    })
}
