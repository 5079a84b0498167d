//! Associative regions of a program.

use crate::program::{Program, TraversalItem};
use egg::Id;
use gradus_ir::{Attr, Module, Op, Traits, Type, Value};
use rustc_hash::{FxHashMap, FxHashSet};

/// Maximum number of operands of a sum.
const MAX_OPERANDS: usize = 1 << 16;

/// The root op of a region.
#[derive(Clone, Copy)]
pub struct Root {
    /// The op.
    pub op: Op,
    /// Number of operands of the region.
    pub operands: usize,
    /// Whether the op is commutative.
    pub commutative: bool,
    /// Whether it belongs to no larger region.
    pub is_whole: bool,
}

/// The regions of a program, inner ones first.
pub struct Regions {
    /// The associative ops with the number of operands of their regions.
    operands: FxHashMap<Op, usize>,
    /// Ops in program order.
    ops: Vec<Op>,
    /// Root ops; `true` for those in no larger region.
    roots: FxHashMap<Op, bool>,
}

impl Regions {
    /// Finds the regions. `approx` ignores rounding.
    pub fn of(program: &Program<'_>, approx: bool) -> Regions {
        let mut all = Regions { operands: FxHashMap::default(), ops: Vec::new(), roots: FxHashMap::default() };
        let mut inner = FxHashSet::default();
        let m = &*program.m;
        for &step in &program.steps {
            let TraversalItem::Op(op) = step else { continue };
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

    /// Returns the next root with more than two operands.
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

    /// Skips an op; the ops of its region become roots.
    pub fn divide(&mut self, program: &Program<'_>, op: Op) {
        for &value in program.m.operands(op) {
            if let Some(inner) = self.inner(program, op, value) {
                self.roots.entry(inner).or_insert(false);
            }
        }
    }

    /// Returns the operands of a region, in order. `None` above the limit.
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

    /// Returns the defining op of a value, if it is of the same kind.
    fn inner(&self, program: &Program<'_>, user: Op, value: Value) -> Option<Op> {
        let m = &*program.m;
        let same = |&op: &Op| m.name(op) == m.name(user) && self.operands.contains_key(&op) && alike(m, op, user);
        m.defining_op(value).filter(same)
    }
}

/// Whether an op is associative with ops of its name and types.
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

/// Whether operands and results of both ops have one type, or are tensors of equal rank at least 2: matrix products
/// with vectors are not associative.
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

/// Whether all attributes are defaults. A promise about one sum does not hold for others.
fn promises_nothing(m: &Module, op: Op) -> bool {
    let info = m.info(op);
    m.ctx.dict_entries(m.props(op)).iter().all(|&(key, attr)| {
        let default = info.and_then(|info| info.attr(m.ctx.text(key))).and_then(|spec| spec.default);
        default.is_some_and(|text| m.ctx.default_attr(text) == attr)
    })
}
