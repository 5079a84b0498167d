//! Approximate rules for powers and roots, in named groups. They change rounding, and assume no intermediate overflow
//! or underflow.

use gradus_ir::rules::{Arg, ArgKind, Rule, RuleFunction, RuleGroup, approx, coarse};
use gradus_ir::{Attr, Module};

pub(super) const GROUPS: &[RuleGroup] = &[
    RuleGroup { name: "horner", doc: "powers in polynomials as repeated multiplication", rules: HORNER },
    RuleGroup {
        name: "fast-inverse-sqrt",
        doc: "inverse square roots of f32 by the exponent bit trick; wrong for infinity and below 1e-38",
        rules: INVERSE_SQRT,
    },
];

/// With the group `factor`, polynomials become Horner's form.
#[rustfmt::skip]
const HORNER: &[Rule] = &[
    approx("power-one",         "powf(x, 1.0) => x"),
    approx("power",             "powf(x, C) => arith.mulf(x, powf(x, one_less(C)))"),
    approx("power-times",       "arith.mulf(c, powf(x, C)) => arith.mulf(x, arith.mulf(c, powf(x, one_less(C))))"),
    approx("whole-power-one",   "fpowi(x, 1: I) => x                                         if not_i1(I)"),
    approx("whole-power",       "fpowi(x, C) => arith.mulf(x, fpowi(x, one_less(C)))"),
    approx("whole-power-times", "arith.mulf(c, fpowi(x, C)) => arith.mulf(x, arith.mulf(c, fpowi(x, one_less(C))))"),
];

/// The constants are from Walczyk et al. (2016): with one Newton step, the relative error is below 0.09 percent.
/// Results for negative numbers and zero are unspecified.
#[rustfmt::skip]
const INVERSE_SQRT: &[Rule] = &[
    coarse("fast-inverse-sqrt", "arith.divf(1.0, sqrt(x: f32)) => arith.mulf(y @ arith.bitcast(arith.subi(1597466888: i32, arith.shrui(arith.bitcast(x): i32, 1: i32))): f32, arith.subf(1.5008789: f32, arith.mulf(arith.mulf(0.5: f32, x), arith.mulf(y, y))))"),
    approx("divide-by-root",    "arith.divf(a, sqrt(x: f32)) => arith.mulf(a, arith.divf(1.0, sqrt(x)))"),
];

pub(super) const FUNCTIONS: &[&RuleFunction] = &[&RuleFunction::attr(
    "one_less",
    "one less than an integer from 2 to 64, or a splat of it",
    &[ArgKind::Attr],
    one_less,
)];

fn one_less(m: &Module, x: &[Arg]) -> Option<Attr> {
    let number = m.ctx.as_uniform(x[0].attr())?;
    let is_small = number.fract() == 0.0 && (2.0..=64.0).contains(&number);
    if is_small { m.ctx.uniform_attr(m.ctx.attr_type(x[0].attr())?, number - 1.0) } else { None }
}
