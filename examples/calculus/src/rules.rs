//! The rules. Each keeps all values: a rule that drops a value, which may be poison, is not an equation.

use gradus::prelude::*;

#[rustfmt::skip]
pub(super) const DERIVE: &[Rule] = &[
    approx("d-symbol",      "derivative{by = N}(symbol{name = N}()) => 1.0"),
    approx("d-other",       "derivative{by = N}(symbol{name = M}()) => 0.0                                  if differ(N, M)"),
    approx("d-constant",    "derivative{by = N}(C) => 0.0"),
    approx("d-sum",         "derivative{by = N}(arith.addf(a, b)) => arith.addf(derivative{by = N}(a), derivative{by = N}(b))"),
    approx("d-difference",  "derivative{by = N}(arith.subf(a, b)) => arith.subf(derivative{by = N}(a), derivative{by = N}(b))"),
    approx("d-scaled",      "derivative{by = N}(arith.mulf(C, a)) => arith.mulf(C, derivative{by = N}(a))"),
    approx("d-other-times", "derivative{by = N}(arith.mulf(s @ symbol{name = M}(), a)) => arith.mulf(s, derivative{by = N}(a)) if differ(N, M)"),
    approx("d-product",     "derivative{by = N}(arith.mulf(a, b)) => arith.addf(arith.mulf(a, derivative{by = N}(b)), arith.mulf(b, derivative{by = N}(a)))"),
    approx("d-power",       "derivative{by = N}(math.powf(a, C)) => arith.mulf(arith.mulf(C, math.powf(a, one_less(C))), derivative{by = N}(a))"),
    approx("d-sin",         "derivative{by = N}(math.sin(a)) => arith.mulf(math.cos(a), derivative{by = N}(a))"),
    approx("d-cos",         "derivative{by = N}(math.cos(a)) => arith.negf(arith.mulf(math.sin(a), derivative{by = N}(a)))"),
    approx("d-log",         "derivative{by = N}(math.log(a)) => arith.divf(derivative{by = N}(a), a)"),
];

#[rustfmt::skip]
pub(super) const INTEGRATE: &[Rule] = &[
    approx("i-one",         "integral{by = N}(1.0: T) => symbol{name = N}(): T"),
    approx("i-power",       "integral{by = N}(math.powf(x @ symbol{name = N}(), C)) => arith.divf(math.powf(x, one_more(C)), one_more(C))"),
    approx("i-cos",         "integral{by = N}(math.cos(x @ symbol{name = N}())) => math.sin(x)"),
    approx("i-sin",         "integral{by = N}(math.sin(x @ symbol{name = N}())) => arith.negf(math.cos(x))"),
    approx("i-sum",         "integral{by = N}(arith.addf(a, b)) => arith.addf(integral{by = N}(a), integral{by = N}(b))"),
    approx("i-parts",       "integral{by = N}(arith.mulf(a, b)) => arith.subf(arith.mulf(a, integral{by = N}(b)), integral{by = N}(arith.mulf(derivative{by = N}(a), integral{by = N}(b))))"),
];

#[rustfmt::skip]
pub(super) const SIMPLIFY: &[Rule] = &[
    approx("one-times",     "arith.mulf(1.0, a) => a"),
    approx("zero-plus",     "arith.addf(0.0, a) => a"),
    approx("minus-negated", "arith.subf(a, arith.negf(b)) => arith.addf(a, b)"),
    approx("plus-negated",  "arith.addf(a, arith.negf(b)) => arith.subf(a, b)"),
    approx("times-negated", "arith.mulf(a, arith.negf(b)) => arith.negf(arith.mulf(a, b))"),
    approx("constants",     "arith.mulf(C, arith.mulf(D, a)) => arith.mulf(arith.mulf(C, D), a)"),
    approx("to-the-one",    "math.powf(a, 1.0) => a"),
    approx("squared",       "math.powf(a, 2.0) => arith.mulf(a, a)"),
    approx("regroup",       "arith.mulf(C, arith.mulf(a, b)) => arith.mulf(a, arith.mulf(C, b))"),
    approx("factor-minus",  "arith.subf(arith.mulf(a, b), arith.mulf(a, c)) => arith.mulf(a, arith.subf(b, c))"),
];

pub(super) const FUNCTIONS: &[&RuleFunction] = &[
    &RuleFunction::test("differ", "two attributes that differ", &[ArgKind::Attr; 2], |_, x| x[0].attr() != x[1].attr()),
    &RuleFunction::attr("one_more", "a number, and one more", &[ArgKind::Attr], one_more),
];

fn one_more(m: &Module, x: &[Arg]) -> Option<Attr> {
    let number = m.ctx.as_uniform(x[0].attr())?;
    m.ctx.uniform_attr(m.ctx.attr_type(x[0].attr())?, number + 1.0)
}
