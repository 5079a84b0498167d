//! Unsound rules, each with a program that it breaks.

use gradus::ir::rules::{Rule, rule};

/// A function that computes one value.
macro_rules! returns {
    ($args:literal, $ty:literal, $body:literal) => {
        concat!("func.func @f(", $args, ") -> ", $ty, " {\n", $body, "\n  return %r : ", $ty, "\n}\n")
    };
}

#[rustfmt::skip]
pub const RULES: &[(Rule, &str)] = &[
    // the edges of integers
    (rule("div-by-2-as-shift", "arith.divsi(x, 2) => arith.shrsi(x, 1)"),
     returns!("%a: i64", "i64", "%c = arith.constant 2 : i64\n%r = arith.divsi %a, %c : i64")),
    (rule("rem-by-2-as-and", "arith.remsi(x, 2) => arith.andi(x, 1)"),
     returns!("%a: i32", "i32", "%c = arith.constant 2 : i32\n%r = arith.remsi %a, %c : i32")),
    (rule("next-is-greater", "arith.cmpi{predicate = sgt}(arith.addi(x, 1), x) => 1"),
     returns!("%a: i64", "i1", "%c = arith.constant 1 : i64\n%0 = arith.addi %a, %c : i64\n%r = arith.cmpi sgt, %0, %a : i64")),
    (rule("mul-then-div", "arith.divsi(arith.muli(x, y), y) => x"),
     returns!("%a: i32, %b: i32", "i32", "%0 = arith.muli %a, %b : i32\n%r = arith.divsi %0, %b : i32")),
    (rule("signed-for-unsigned-max", "arith.maxui(x, y) => arith.maxsi(x, y)"),
     returns!("%a: i16, %b: i16", "i16", "%r = arith.maxui %a, %b : i16")),
    (rule("zero-for-sign", "arith.extsi(x): R => arith.extui(x): R"),
     returns!("%a: i8", "i32", "%r = arith.extsi %a : i8 to i32")),
    (rule("shift-sum", "arith.shli(arith.shli(x, a), b) => arith.shli(x, arith.addi(a, b))"),
     returns!("%a: i8, %b: i8, %c: i8", "i8", "%0 = arith.shli %a, %b : i8\n%r = arith.shli %0, %c : i8")),
    (rule("sub-for-add", "arith.subi(arith.subi(x, y), z) => arith.addi(arith.subi(x, y), z)"),
     returns!("%a: i32, %b: i32, %c: i32", "i32", "%0 = arith.subi %a, %b : i32\n%r = arith.subi %0, %c : i32")),
    (rule("select-swapped", "arith.select(arith.cmpi{predicate = slt}(a, b), a, b) => arith.maxsi(a, b)"),
     returns!("%a: i32, %b: i32", "i32", "%0 = arith.cmpi slt, %a, %b : i32\n%r = arith.select %0, %a, %b : i32")),
    (rule("lost-overflow-check", "arith.subi{overflowFlags = none}(x, y) => arith.subi{overflowFlags = nsw}(x, y)"),
     returns!("%a: i32, %b: i32", "i32", "%r = arith.subi %a, %b : i32")),
    (rule("or-for-add", "arith.addi(arith.andi(x, 12), arith.andi(y, 7)) => arith.ori(arith.andi(x, 12), arith.andi(y, 7))"),
     returns!("%a: i8, %b: i8", "i8", "%c = arith.constant 12 : i8\n%d = arith.constant 7 : i8\n%0 = arith.andi %a, %c : i8\n%1 = arith.andi %b, %d : i8\n%r = arith.addi %0, %1 : i8")),
    (rule("speculated-division", "arith.select(c, arith.divui(x, y), z) => arith.divui(arith.select(c, x, z), arith.select(c, y, 0))"),
     returns!("%c: i1, %a: i8, %b: i8, %d: i8", "i8", "%e = arith.constant 1 : i8\n%s = arith.ori %b, %e : i8\n%0 = arith.divui %a, %s : i8\n%r = arith.select %c, %0, %d : i8")),
    // floats
    (rule("add-zero", "arith.addf(x, 0.0) => x"),
     returns!("%a: f32", "f32", "%c = arith.constant 0.0 : f32\n%r = arith.addf %a, %c : f32")),
    (rule("mul-zero", "arith.mulf(x, 0.0) => 0.0"),
     returns!("%a: f64", "f64", "%c = arith.constant 0.0 : f64\n%r = arith.mulf %a, %c : f64")),
    (rule("reassociate", "arith.addf(arith.subf(a, b), c) => arith.subf(a, arith.subf(b, c))"),
     returns!("%a: f32, %b: f32, %c: f32", "f32", "%0 = arith.subf %a, %b : f32\n%r = arith.addf %0, %c : f32")),
    (rule("ordered-for-unordered", "arith.cmpf{predicate = ult}(a, b) => arith.cmpf{predicate = olt}(a, b)"),
     returns!("%a: f32, %b: f32", "i1", "%r = arith.cmpf ult, %a, %b : f32")),
    (rule("negate-by-subtraction", "arith.negf(x) => arith.subf(0.0, x)"),
     returns!("%a: f32", "f32", "%r = arith.negf %a : f32")),
    (rule("nan-for-number", "arith.minimumf(a, b) => arith.minnumf(a, b)"),
     returns!("%a: f32, %b: f32", "f32", "%r = arith.minimumf %a, %b : f32")),
    (rule("self-equal", "arith.cmpf{predicate = oeq}(x, x) => 1"),
     returns!("%a: f16", "i1", "%r = arith.cmpf oeq, %a, %a : f16")),
    (rule("round-trip", "arith.extf(arith.truncf(x: R)): R => x"),
     returns!("%a: f64", "f64", "%0 = arith.truncf %a : f64 to f32\n%r = arith.extf %0 : f32 to f64")),
    (rule("division-by-reciprocal", "arith.divf(x, 3.0) => arith.mulf(x, 0.3333333333333333)"),
     returns!("%a: f64", "f64", "%c = arith.constant 3.0 : f64\n%r = arith.divf %a, %c : f64")),
];
