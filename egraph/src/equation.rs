//! Which rules may be used to saturate: those that are equations.
//!
//! A rule only promises that its right side *refines* its left side: it may be defined where the left side is poison. In a
//! class everything stands for everything, so that both sides must be defined alike.

use gradus_ir::rules::{AttrTerm, Compiled, OpTerm, Term, Var};
use gradus_ir::{Attr, AttrSpec, Context, OpName, Str, Traits};
use rustc_hash::{FxHashMap, FxHashSet};

/// Rules that are equations.
pub struct Equations {
    /// The rules.
    pub rules: Vec<Compiled>,
    specs: FxHashMap<OpName, Vec<Spec>>,
}

/// An attribute that ops of a name can have.
pub struct Spec {
    /// Its name.
    pub key: Str,
    /// What an op has that does not say otherwise; of those that must say it, there is none.
    pub usual: Usual,
}

/// What an attribute is unless an op says otherwise.
pub enum Usual {
    /// This.
    Is(Attr),
    /// It is absent.
    Absent,
    /// It must be there, and can be anything.
    Any,
}

impl Equations {
    /// Those of the rules that are equations, and why the others are none.
    pub fn of(
        ctx: &Context,
        rules: impl IntoIterator<Item = Compiled>,
        approx: bool,
    ) -> (Equations, Vec<(Str, &'static str)>) {
        let mut all = Equations { rules: Vec::new(), specs: FxHashMap::default() };
        let mut refused = Vec::new();
        for rule in rules {
            match all.why_not(ctx, &rule, approx) {
                Some(why) => refused.push((rule.name, why)),
                None => all.rules.push(rule),
            }
        }
        (all, refused)
    }

    /// The attributes that ops of a name can have.
    pub fn specs(&self, name: OpName) -> &[Spec] {
        self.specs.get(&name).map_or(&[], Vec::as_slice)
    }

    /// Why a rule is no equation.
    fn why_not(&mut self, ctx: &Context, rule: &Compiled, approx: bool) -> Option<&'static str> {
        let (mut left, mut right) = (Side::default(), Side::default());
        rule.roots.iter().for_each(|root| left.op(root));
        rule.right.iter().for_each(|term| right.term(term));
        for op in left.ops.iter().chain(&right.ops) {
            self.specs.entry(op.name).or_insert_with(|| specs(ctx, op.name));
        }
        let promises = |op: &&OpTerm| {
            let specs = self.specs(op.name);
            let usual = |key: Str, attr: Attr| {
                specs.iter().any(|s| s.key == key && matches!(s.usual, Usual::Is(a) if a == attr))
            };
            let open = |key: Str| specs.iter().any(|s| s.key == key && matches!(s.usual, Usual::Any));
            op.attrs.iter().any(|&(key, attr)| match attr {
                AttrTerm::Is(attr) => !open(key) && !usual(key, attr),
                AttrTerm::Var(_) => !open(key),
                // Whoever takes all attributes answers for what they say.
                AttrTerm::Others(_) => false,
            })
        };
        if rule.approx && !approx {
            return Some("it is approximate");
        }
        if !left.values.is_subset(&right.values) {
            return Some("it forgets a value, which may be poison");
        }
        if left.ops.iter().any(promises) {
            return Some("it is about ops that promise something, whose result may be poison");
        }
        let chooses = |side: &Side<'_>| side.ops.iter().filter(|op| is_lazy(ctx, op.name)).count();
        if chooses(&right) > chooses(&left) {
            return Some("it chooses among values, which need not all be defined");
        }
        None
    }
}

/// Whether ops of a name may be defined though an operand is poison.
fn is_lazy(ctx: &Context, name: OpName) -> bool {
    ctx.op_info(name).is_none_or(|info| info.eval.is_none() || info.exec.is_some())
}

fn specs(ctx: &Context, name: OpName) -> Vec<Spec> {
    let info = ctx.op_info(name);
    let attrs = info.map_or(&[][..], |info| info.attrs);
    let sized = info.is_some_and(|info| info.traits.has(Traits::OPERAND_SEGMENTS));
    let usual = |default: Option<&'static str>, optional| match default {
        Some(text) => Usual::Is(ctx.default_attr(text)),
        None if optional => Usual::Absent,
        None => Usual::Any,
    };
    let sizes = sized.then(|| Spec { key: ctx.str("operandSegmentSizes"), usual: Usual::Any });
    let one = |spec: &AttrSpec| Spec { key: ctx.str(spec.name), usual: usual(spec.default, spec.optional) };
    attrs.iter().map(one).chain(sizes).collect()
}

/// What a side of a rule consists of.
#[derive(Default)]
struct Side<'r> {
    values: FxHashSet<Var>,
    ops: Vec<&'r OpTerm>,
}

impl<'r> Side<'r> {
    fn op(&mut self, op: &'r OpTerm) {
        self.ops.push(op);
        op.operands.iter().for_each(|term| self.term(term));
    }

    fn term(&mut self, term: &'r Term) {
        match term {
            Term::Value { var, .. } => {
                self.values.insert(*var);
            }
            Term::Op { op, .. } => self.op(op),
            Term::Constant { .. } | Term::Number { .. } => {}
        }
    }
}
