//! Selection of the rules that are equations.
//!
//! A rule promises that its right side *refines* its left side: it may be defined where the left side is poison. In an
//! e-class every node may replace every other, so both sides have to be defined alike.

use gradus_ir::rules::{AttrTerm, CompiledRule, OpTerm, Term, Var};
use gradus_ir::{Attr, AttrSpec, Context, OpName, Str, Traits};
use rustc_hash::{FxHashMap, FxHashSet};

/// The equations among some rules.
pub struct Equations {
    /// The rules.
    pub rules: Vec<CompiledRule>,
    specs: FxHashMap<OpName, Vec<Spec>>,
}

/// A declared attribute of an op.
pub struct Spec {
    /// Its name.
    pub key: Str,
    /// Its default.
    pub usual: Usual,
}

/// The default of an attribute.
pub enum Usual {
    /// A value.
    Is(Attr),
    /// Absent.
    Absent,
    /// None: the attribute is required.
    Any,
}

impl Equations {
    /// Returns the equations among the rules. Other rules are errors if they were selected by name.
    pub fn of(
        ctx: &Context,
        rules: impl IntoIterator<Item = CompiledRule>,
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

    /// Returns the declared attributes of an op.
    pub fn specs(&self, name: OpName) -> &[Spec] {
        self.specs.get(&name).map_or(&[], Vec::as_slice)
    }

    /// Returns the reason why a rule is not an equation.
    fn why_not(&mut self, ctx: &Context, rule: &CompiledRule, approx: bool) -> Option<&'static str> {
        let (mut left, mut right) = (EquationSide::default(), EquationSide::default());
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
                // A variable for all remaining attributes carries their promises over.
                AttrTerm::Others(_) => false,
            })
        };
        if rule.approx && !approx {
            return Some("it is approximate");
        }
        if !left.values.is_subset(&right.values) {
            return Some("it drops an operand, which may be poison");
        }
        if left.ops.iter().any(promises) {
            return Some("a matched op has flags such as 'nsw', whose violation yields poison");
        }
        let poisons = |side: &EquationSide<'_>| side.ops.iter().filter(|op| may_poison(ctx, op.name)).count();
        if poisons(&left) > poisons(&right) {
            return Some("it drops an op whose result may be poison, as that of a bitcast of NaN");
        }
        let chooses = |side: &EquationSide<'_>| side.ops.iter().filter(|op| is_lazy(ctx, op.name)).count();
        if chooses(&right) > chooses(&left) {
            return Some("it selects among values, not all of which need be defined");
        }
        None
    }
}

/// Whether an op may be defined although an operand is poison.
fn is_lazy(ctx: &Context, name: OpName) -> bool {
    ctx.op_info(name).is_none_or(|info| info.eval.is_none() || info.exec.is_some())
}

/// Whether the result of an op may be poison though operands and attributes are as they should be.
fn may_poison(ctx: &Context, name: OpName) -> bool {
    ctx.op_info(name).is_some_and(|info| info.traits.has(Traits::MAY_POISON))
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

/// The ops and variables of one side of a rule.
#[derive(Default)]
struct EquationSide<'r> {
    values: FxHashSet<Var>,
    ops: Vec<&'r OpTerm>,
}

impl<'r> EquationSide<'r> {
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
