//! Canonicalization rules of arithmetic, with their conditions.
//!
//! mlir-opt also turns nested `select`s into `andi` and `ori` of conditions, which is not a refinement: `false and
//! poison` is poison, but the nested select is not. It also turns `truncf(sitofp(x))`, which rounds twice, into one
//! rounding. Both are omitted.

use super::range::Range;
use gradus_ir::rules::{Arg, ArgKind, Rule, RuleFunction, RuleGroup, approx, rule};
use gradus_ir::{Attr, Module, Type};

#[rustfmt::skip]
pub(super) const RULES: &[Rule] = &[
    // constants in sums and differences
    rule("add-add",        "addi(addi(x, C), D) => addi(x, addi(C, D))"),
    rule("add-sub-right",  "addi(subi(x, C), D) => addi(x, subi(D, C))"),
    rule("add-sub-left",   "addi(subi(C, x), D) => subi(addi(C, D), x)"),
    rule("sub-add",        "subi(addi(x, C), D) => addi(x, subi(C, D))"),
    rule("sub-of-add",     "subi(C, addi(x, D)) => subi(subi(C, D), x)"),
    rule("sub-sub-right",  "subi(subi(x, C), D) => subi(x, addi(C, D))"),
    rule("sub-sub-left",   "subi(subi(C, x), D) => subi(subi(C, D), x)"),
    rule("sub-of-sub",     "subi(C, subi(x, D)) => subi(addi(C, D), x)"),
    rule("sub-of-sub-left","subi(C, subi(D, x)) => addi(x, subi(C, D))"),
    // cancellation: a - b + b = a
    rule("sub-add-same",   "addi(subi(a, b), b) => a"),
    rule("add-sub-same",   "subi(addi(a, b), b) => a"),
    rule("sub-sub-same",   "subi(subi(a, b), a) => subi(0, b)"),
    rule("add-negated",    "addi(x, muli(y, -1)) => subi(x, y)                        if not_i1(x)"),
    rule("mul-mul",        "muli(muli(x, C), D) => muli(x, muli(C, D))"),
    // bitwise: absorption, constants, complements
    rule("and-and",        "andi(andi(x, C), D) => andi(x, andi(C, D))"),
    rule("and-absorb",     "andi(a, y @ andi(a, b)) => y"),
    rule("and-not",        "andi(x, xori(x, -1)) => 0"),
    rule("or-or",          "ori(ori(x, C), D) => ori(x, ori(C, D))"),
    rule("or-absorb",      "ori(a, y @ ori(a, b)) => y"),
    rule("or-not",         "ori(x, xori(x, -1)) => -1"),
    rule("xor-xor",        "xori(a, xori(a, b)) => b"),
    rule("xor-constants",  "xori(xori(x, C), D) => xori(x, xori(C, D))"),
    rule("not-compare",    "xori(cmpi{predicate = P}(a, b), -1) => cmpi{predicate = negated(P)}(a, b)"),
    // bitwise on extended values: compute in the narrow type
    rule("and-extsi",      "andi(extsi(a: T), extsi(b: T)): R => extsi(andi(a, b)): R"),
    rule("and-extui",      "andi(extui(a: T), extui(b: T)): R => extui(andi(a, b)): R"),
    rule("or-extsi",       "ori(extsi(a: T), extsi(b: T)): R => extsi(ori(a, b)): R"),
    rule("or-extui",       "ori(extui(a: T), extui(b: T)): R => extui(ori(a, b)): R"),
    rule("xor-extsi",      "xori(extsi(a: T), extsi(b: T)): R => extsi(xori(a, b)): R"),
    rule("xor-extui",      "xori(extui(a: T), extui(b: T)): R => extui(xori(a, b)): R"),
    // minimum and maximum values
    rule("maxsi-smallest", "maxsi(x, C) => x                                          if smallest(C)"),
    rule("maxsi-largest",  "maxsi(x, C) => C                                          if largest(C)"),
    rule("minsi-smallest", "minsi(x, C) => C                                          if smallest(C)"),
    rule("minsi-largest",  "minsi(x, C) => x                                          if largest(C)"),
    rule("maxui-zero",     "maxui(x, 0) => x"),
    rule("maxui-ones",     "maxui(x, C) => C                                          if all_ones(C)"),
    rule("minui-zero",     "minui(x, C) => C                                          if zero(C)"),
    rule("minui-ones",     "minui(x, C) => x                                          if all_ones(C)"),
    // selection
    rule("select-same-then",  "select(c, select(c, a, b), d) => select(c, a, d)"),
    rule("select-same-else",  "select(c, a, select(c, b, d)) => select(c, a, d)"),
    rule("select-not",        "select(xori(c, -1), a, b) => select(c, b, a)"),
    rule("select-i1",         "select(c: T, 1, 0): T => c                             if i1(T)"),
    rule("select-to-not",     "select(c: T, 0, 1): T => xori(c, -1)                   if i1(T)"),
    rule("select-to-extui",   "select(c: T, 1, 0): R => extui(c): R                   if wider_int(R, T), same_shape(R, T)"),
    rule("select-to-ext-not", "select(c: T, 0, 1): R => extui(xori(c, -1: T)): R      if wider_int(R, T), same_shape(R, T)"),
    rule("select-eq",         "select(cmpi{predicate = eq}(a, b), a, b) => b"),
    rule("select-eq-swapped", "select(cmpi{predicate = eq}(a, b), b, a) => a"),
    rule("select-ne",         "select(cmpi{predicate = ne}(a, b), a, b) => a"),
    rule("select-ne-swapped", "select(cmpi{predicate = ne}(a, b), b, a) => b"),
    // comparisons
    rule("compare-constant-left", "cmpi{predicate = P}(C, x) => cmpi{predicate = swapped(P)}(x, C) if variable(x)"),
    rule("compare-extsi",  "cmpi{predicate = P}(extsi(a: T), extsi(b: T)) => cmpi{predicate = P}(a, b)"),
    rule("compare-extui",  "cmpi{predicate = P}(extui(a: T), extui(b: T)) => cmpi{predicate = unsigned(P)}(a, b)"),
    rule("extsi-ne-zero",  "cmpi{predicate = ne}(extsi(x: T), 0) => x                 if i1(T)"),
    rule("extui-ne-zero",  "cmpi{predicate = ne}(extui(x: T), 0) => x                 if i1(T)"),
    rule("i1-eq-true",     "cmpi{predicate = eq}(x: T, -1) => x                       if i1(T)"),
    rule("i1-ne-false",    "cmpi{predicate = ne}(x: T, 0) => x                        if i1(T)"),
    // composed conversions
    rule("extui-extui",    "extui(extui(x)): R => extui(x): R"),
    rule("extsi-extsi",    "extsi(extsi(x)): R => extsi(x): R"),
    rule("extsi-extui",    "extsi(extui(x)): R => extui(x): R"),
    rule("trunci-trunci",  "trunci(trunci(x)): R => trunci(x): R"),
    rule("trunci-extsi",   "trunci(extsi(x: T)): T => x"),
    rule("trunci-extui",   "trunci(extui(x: T)): T => x"),
    rule("trunci-extsi-wider",    "trunci(extsi(x: T)): R => extsi(x): R              if wider_int(R, T)"),
    rule("trunci-extui-wider",    "trunci(extui(x: T)): R => extui(x): R              if wider_int(R, T)"),
    rule("trunci-extsi-narrower", "trunci(extsi(x: T)): R => trunci(x): R             if wider_int(T, R)"),
    rule("trunci-extui-narrower", "trunci(extui(x: T)): R => trunci(x): R             if wider_int(T, R)"),
    rule("truncf-extf",    "truncf(extf(x: T)): T => x"),
    rule("bitcast-same",   "bitcast(x: T): T => x"),
    rule("bitcast-bitcast","bitcast(bitcast(x)): R => bitcast(x): R"),
    rule("index-cast-back",    "index_cast(index_cast(x: T): U): T => x               if not_narrower_int(U, T)"),
    rule("index-castui-back",  "index_castui(index_castui(x: T): U): T => x           if not_narrower_int(U, T)"),
    rule("index-cast-extsi",   "index_cast(extsi(x: T)): R => index_cast(x): R        if index(R)"),
    rule("index-castui-extui", "index_castui(extui(x: T)): R => index_castui(x): R    if index(R)"),
    // float signs
    rule("mulf-negf-negf", "mulf(negf(a), negf(b)) => mulf(a, b)"),
    rule("divf-negf-negf", "divf(negf(a), negf(b)) => divf(a, b)"),
];

pub(super) const GROUPS: &[RuleGroup] = &[
    RuleGroup {
        name: "divide-shift",
        doc: "signed division of nonnegative integers by powers of two as shifts",
        rules: DIVIDE_SHIFT,
    },
    RuleGroup { name: "factor", doc: "sums of products with a common factor as products of sums", rules: FACTOR },
];

#[rustfmt::skip]
const DIVIDE_SHIFT: &[Rule] = &[
    rule("divide-shift",   "divsi(x, C) => shrsi(x, log2(C))                          if not_negative(x)"),
];

/// Sums are regrouped only if two terms share a factor that the rest does not contain; unrestricted reassociation would
/// add many equal sums.
#[rustfmt::skip]
const FACTOR: &[Rule] = &[
    approx("factor",             "addf(mulf(x, a), mulf(x, b)) => mulf(x, addf(a, b))"),
    approx("factor-one",         "addf(mulf(x, a), x) => mulf(x, addf(a, 1.0))"),
    approx("factor-through",     "addf(addf(r, mulf(x, a)), mulf(x, b)) => addf(r, mulf(x, addf(a, b)))     if independent_of(r, x)"),
    approx("factor-one-through", "addf(addf(r, x), mulf(x, a)) => addf(r, mulf(x, addf(a, 1.0)))            if independent_of(r, x)"),
];

#[rustfmt::skip]
pub(super) const FUNCTIONS: &[&RuleFunction] = &[
    &RuleFunction::test("i1", "a boolean, or a vector or tensor of them", ANY, |m, x| element(m, x[0]) == Type::I1),
    &RuleFunction::test("not_i1", "a value that is not boolean", ANY, |m, x| element(m, x[0]) != Type::I1),
    &RuleFunction::test("index", "`index`, or a vector or tensor of it", ANY, |m, x| element(m, x[0]) == Type::INDEX),
    &RuleFunction::test("variable", "a value that is not constant", VALUE, |m, x| m.constant(x[0].value()).is_none()),
    &RuleFunction::test("wider_int", "two integers, neither `index`, the first with more bits", TWO, |m, x| element(m, x[0]) != Type::INDEX && element(m, x[1]) != Type::INDEX && widths(m, x).is_some_and(|(a, b)| a > b)),
    &RuleFunction::test("not_narrower_int", "two integers, the first with at least as many bits", TWO, |m, x| widths(m, x).is_some_and(|(a, b)| a >= b)),
    &RuleFunction::test("same_shape", "two types of the same shape", TYPES, |m, x| m.ctx.with_element(x[0].ty(), Type::I1) == m.ctx.with_element(x[1].ty(), Type::I1)),
    &RuleFunction::test("zero", "the integer 0, or a splat of it", ATTR, |m, x| m.ctx.is_uniform(x[0].attr(), 0.0)),
    &RuleFunction::test("all_ones", "the integer -1, or a splat of it", ATTR, |m, x| signed(m, x[0]).is_some_and(|(v, _)| v == -1.0)),
    &RuleFunction::test("smallest", "the minimum signed integer, or a splat of it", ATTR, |m, x| signed(m, x[0]).is_some_and(|(v, w)| v == -half(w))),
    &RuleFunction::test("largest", "the maximum signed integer, or a splat of it", ATTR, |m, x| signed(m, x[0]).is_some_and(|(v, w)| w < 54 && v == half(w) - 1.0)),
    &RuleFunction { params: &["limit"], ..RuleFunction::test("at_least", "a number that is at least `limit`, or a splat of it", ATTR, at_least) },
    &RuleFunction::test("power_of_two", "a positive power of two, or a splat of it", ATTR, |m, x| exponent(m, x[0]).is_some()),
    &RuleFunction::test("not_negative", "an integer that range analysis proves nonnegative", VALUE, |m, x| Range::of(m, x[0].value()).is_some_and(|range| range.low >= 0)),
    &RuleFunction::test("independent_of", "a value that neither is nor depends on the second one", VALUES, independent_of),
    &RuleFunction::attr("log2", "the exponent of a power of two", ATTR, |m, x| m.ctx.uniform_attr(m.ctx.attr_type(x[0].attr())?, exponent(m, x[0])?)),
    &RuleFunction::attr("negated", "the negated predicate", ATTR, |m, x| predicate(m, x[0], &[1, 0, 5, 4, 3, 2, 9, 8, 7, 6])),
    &RuleFunction::attr("swapped", "the predicate for swapped operands", ATTR, |m, x| predicate(m, x[0], &[0, 1, 4, 5, 2, 3, 8, 9, 6, 7])),
    &RuleFunction::attr("unsigned", "the predicate for unsigned operands", ATTR, |m, x| predicate(m, x[0], &[0, 1, 6, 7, 8, 9, 6, 7, 8, 9])),
];

/// Argument kinds of functions that take a type, a value or an attribute.
const ANY: &[ArgKind] = &[ArgKind::Any];
const TWO: &[ArgKind] = &[ArgKind::Any, ArgKind::Any];
const TYPES: &[ArgKind] = &[ArgKind::Type, ArgKind::Type];
const VALUE: &[ArgKind] = &[ArgKind::Value];
const VALUES: &[ArgKind] = &[ArgKind::Value, ArgKind::Value];
const ATTR: &[ArgKind] = &[ArgKind::Attr];

/// Maximum number of ops visited.
const MOST: usize = 256;

fn independent_of(m: &Module, args: &[Arg]) -> bool {
    let (mut left, mut stack) = (MOST, vec![args[0].value()]);
    while let Some(value) = stack.pop() {
        if value == args[1].value() || left == 0 {
            return false;
        }
        left -= 1;
        stack.extend(m.defining_op(value).into_iter().flat_map(|op| m.operands(op)));
    }
    true
}

fn element(m: &Module, arg: Arg) -> Type {
    let ty = match arg {
        Arg::Type(ty) => ty,
        Arg::Value(v) => m.value_type(v),
        Arg::Attr(a) => m.ctx.attr_type(a).unwrap_or(Type::NONE),
    };
    m.ctx.element_type(ty)
}

fn widths(m: &Module, args: &[Arg]) -> Option<(u32, u32)> {
    Some((m.ctx.int_width(element(m, args[0]))?, m.ctx.int_width(element(m, args[1]))?))
}

/// Returns the integer of a splat constant, and its width.
fn signed(m: &Module, arg: Arg) -> Option<(f64, u32)> {
    Some((m.ctx.as_uniform(arg.attr())?, m.ctx.int_width(element(m, arg))?))
}

fn at_least(m: &Module, args: &[Arg]) -> bool {
    let limit = args[1].attr();
    let limit = m.ctx.as_int(limit).map(|limit| limit as f64).or_else(|| m.ctx.as_float(limit));
    m.ctx.as_uniform(args[0].attr()).zip(limit).is_some_and(|(value, limit)| value >= limit)
}

/// Returns log2 of a splat power of two.
fn exponent(m: &Module, arg: Arg) -> Option<f64> {
    let (value, width) = signed(m, arg)?;
    (0..width.saturating_sub(1)).map(f64::from).find(|exponent| exponent.exp2() == value)
}

/// Returns 2^(width - 1).
fn half(width: u32) -> f64 {
    f64::from(width - 1).exp2()
}

fn predicate(m: &Module, arg: Arg, table: &[i64; 10]) -> Option<Attr> {
    let at = usize::try_from(m.ctx.as_int(arg.attr())?).ok()?;
    Some(m.ctx.int_attr(Type::I64, *table.get(at)?))
}
