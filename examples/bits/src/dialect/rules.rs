//! Rules that `--canonicalize` applies.

use gradus::prelude::*;

#[rustfmt::skip]
pub(super) const RULES: &[Rule] = &[
    // inverse rotations, and sums of amounts
    rule("rotl-rotr",     "rotl(rotr(x, n), n) => x"),
    rule("rotr-rotl",     "rotr(rotl(x, n), n) => x"),
    rule("rotl-rotl",     "rotl(rotl(x: T, C), D) => rotl(x, arith.addi(C, D)) if wraps_at_width(T)"),
    // a rotation keeps the number of one bits
    rule("popcount-rotl", "popcount(rotl(x, n)) => popcount(x)"),
    rule("popcount-rotr", "popcount(rotr(x, n)) => popcount(x)"),
];

pub(super) const FUNCTIONS: &[&RuleFunction] = &[&RuleFunction::test(
    "wraps_at_width",
    "integers whose width is a power of two, so that sums of amounts may wrap",
    &[ArgKind::Type],
    |m, x| m.ctx.int_width(m.ctx.element_type(x[0].ty())).is_some_and(u32::is_power_of_two),
)];
