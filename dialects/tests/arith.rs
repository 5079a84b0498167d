//! Tests of arithmetic edge cases: poison and undefined behavior.

use gradus_dialects::{arith, builtin, func};
use gradus_ir::eval::{Datum, Trap, eval_op};
use gradus_ir::float::{FloatKind, from_f64, to_f64};
use gradus_ir::random::Random;
use gradus_ir::{Context, Module, ParseOptions, parse_module};

/// Evaluates `op` (text with `%a` and `%b`) on two integers of type `ty`.
fn eval(op: &str, ty: &str, a: i64, b: i64) -> Result<Datum, Trap> {
    let ctx = Context::new(&[&arith::DIALECT, &builtin::DIALECT, &func::DIALECT]);
    let text = format!("func.func @f(%a: {ty}, %b: {ty}) {{\n %0 = {op}\n return\n}}");
    let m: Module = parse_module(&ctx, "test", text, ParseOptions::default()).expect("the test is IR");
    let op = m.ops_under(m.root()).into_iter().find(|&op| m.name_text(op).starts_with("arith.")).expect("an op");
    let results = m.with_args(op, |args| eval_op(args, &[Datum::Int(a), Datum::Int(b)])).expect("registered");
    results.map(|mut r| r.remove(0))
}

#[test]
fn broken_promises_are_poison_and_division_may_be_undefined() {
    let poison = Ok(Datum::Poison);
    assert_eq!(eval("arith.addi %a, %b : i8", "i8", 127, 1), Ok(Datum::Int(-128)));
    assert_eq!(eval("arith.addi %a, %b overflow<nsw> : i8", "i8", 127, 1), poison);
    assert_eq!(eval("arith.subi %a, %b overflow<nuw> : i8", "i8", 1, 2), poison);
    assert_eq!(eval("arith.shli %a, %b : i8", "i8", 1, 8), poison);
    assert_eq!(eval("arith.shrui %a, %b exact : i8", "i8", 3, 1), poison);
    assert_eq!(eval("arith.divui %a, %b : i8", "i8", -1, 2), Ok(Datum::Int(127)));
    assert!(matches!(eval("arith.divsi %a, %b : i8", "i8", 1, 0), Err(Trap::Ub(_))));
    assert!(matches!(eval("arith.divsi %a, %b : i8", "i8", -128, -1), Err(Trap::Ub(_))));
    assert_eq!(eval("arith.floordivsi %a, %b : i64", "i64", -7, 2), Ok(Datum::Int(-4)));
    assert_eq!(eval("arith.ceildivsi %a, %b : i64", "i64", 7, -2), Ok(Datum::Int(-3)));
}

#[test]
fn poison_operands_make_poison_results() {
    let ctx = Context::new(&[&arith::DIALECT, &builtin::DIALECT, &func::DIALECT]);
    let text = "func.func @f(%a: i32) {\n %0 = arith.addi %a, %a : i32\n return\n}".to_owned();
    let m = parse_module(&ctx, "test", text, ParseOptions::default()).expect("the test is IR");
    let op = m.ops_under(m.root())[2];
    let result = m.with_args(op, |args| eval_op(args, &[Datum::Poison, Datum::Int(1)])).expect("registered");
    assert_eq!(result, Ok(vec![Datum::Poison]));
}

/// Rounds numbers by `arith.truncf` to a type, with a rounding mode.
fn rounding(mode: &str, ty: &str) -> impl Fn(f64) -> f64 {
    let ctx = Context::new(&[&arith::DIALECT, &builtin::DIALECT, &func::DIALECT]);
    let text = format!("func.func @f(%a: f64) {{\n %0 = arith.truncf %a {mode} : f64 to {ty}\n return\n}}");
    let m = parse_module(&ctx, "test", text, ParseOptions::default()).expect("the test is IR");
    let op = m.ops_under(m.root())[2];
    move |x| match m.with_args(op, |args| eval_op(args, &[Datum::Float(x)])).expect("registered").as_deref() {
        Ok([Datum::Float(y)]) => *y,
        other => panic!("{other:?}"),
    }
}

/// Directed results enclose a number, and between two the nearest is as defined.
#[test]
fn numbers_are_rounded_in_all_directions() {
    let mut random = Random::of("rounding modes");
    for (kind, ty) in [(FloatKind::F16, "f16"), (FloatKind::BF16, "bf16")] {
        let modes = ["to_nearest_even", "downward", "upward", "toward_zero", "to_nearest_away"];
        let modes = modes.map(|mode| rounding(mode, ty));
        for case in 0..2000 {
            let exact = to_f64(kind, random.below(1 << 15).into());
            let size = match case % 4 {
                0 => exact,
                // In the middle of two numbers.
                1 => f64::midpoint(exact, to_f64(kind, from_f64(kind, exact) + 1)),
                _ => random.below(1 << 30) as f64 * f64::exp2(random.below(60) as f64 - 60.0),
            };
            let x = if random.percent(50) { size } else { -size };
            let [even, down, up, to_zero, away] = modes.each_ref().map(|round| round(x));
            if !size.is_finite() || !even.is_finite() {
                continue;
            }
            assert!(down <= x && x <= up && (down == up) == (even == x), "{ty} {x}: {down}, {up}");
            let (lesser, larger) = if x < 0.0 { (up, down) } else { (down, up) };
            let (below, above) = ((x - lesser).abs(), (larger - x).abs());
            assert_eq!([to_zero, away], [lesser, if below < above { lesser } else { larger }], "{ty} {x}");
        }
        assert!(modes[1](f64::NAN).is_nan());
    }
    let beyond = ["downward", "upward", "toward_zero", "to_nearest_away"].map(|mode| rounding(mode, "f16")(1e6));
    assert_eq!(beyond, [65504.0, f64::INFINITY, 65504.0, f64::INFINITY]);
}

#[test]
fn rules_are_well_formed() {
    let ctx = gradus_dialects::context();
    assert_eq!(ctx.rule_errors(), &[]);
}
