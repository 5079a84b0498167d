//! Tests of arithmetic edge cases: poison and undefined behavior.

use gradus_dialects::{arith, builtin, func};
use gradus_ir::eval::{Datum, Trap, eval_op};
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

#[test]
fn rules_are_well_formed() {
    let ctx = gradus_dialects::context();
    assert_eq!(ctx.rule_errors(), &[]);
}
