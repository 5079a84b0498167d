//! Each reduction is necessary: without it, some program stays larger.

use crate::engine::{reduce_by, reductions};
use crate::size::{Size, Weights};
use crate::{ReduceOptions, StopReason, compact, reduce};
use gradus_ir::{Def, Module, Op, ParseOptions, PrintOptions, TypeData, Value, parse_module, verify};

/// A reduction, a program, and the property to keep.
type Case = (&'static str, &'static str, fn(&Module) -> bool);

fn parse(text: &str) -> Module {
    let options = ParseOptions { allow_unregistered: true, ..ParseOptions::default() };
    let ctx = gradus_dialects::context();
    let m =
        parse_module(&ctx, "test.mlir", text.to_owned(), options).unwrap_or_else(|d| panic!("{}", d[0].render(&ctx)));
    verify(&m).unwrap_or_else(|d| panic!("{}", d[0].render(&ctx)));
    m
}

fn find(m: &Module, name: &str) -> Option<Op> {
    m.ops_under(m.root()).into_iter().find(|&op| m.name_text(op) == name)
}

fn has_key(m: &Module) -> bool {
    find(m, "t.key").is_some()
}

fn key_operand(m: &Module, i: usize) -> Option<Value> {
    m.operands(find(m, "t.key")?).get(i).copied()
}

fn key_constant(m: &Module) -> Option<i64> {
    m.constant_int(key_operand(m, 0)?)
}

/// Returns whether a value depends on the result of `t.key`.
fn comes_from_key(m: &Module, value: Value) -> bool {
    let mut stack = vec![value];
    while let Some(value) = stack.pop() {
        match m.def(value) {
            Def::Result(op, _) if m.name_text(op) == "t.key" => return true,
            Def::Result(op, _) => stack.extend(m.operands(op)),
            Def::Arg(..) => {}
        }
    }
    false
}

const CASES: &[Case] = &[
    ("drop symbols", "func.func @f() { return }\nfunc.func @g() { call @f() : () -> () return }", |m| {
        m.to_text(PrintOptions::default()).contains("@f")
    }),
    ("drop bodies", "func.func @f(%a: i32) -> i32 { return %a : i32 }", |m| {
        m.to_text(PrintOptions::default()).contains("@f")
    }),
    (
        "return early",
        "func.func @f(%c: i1) {
  cf.cond_br %c, ^a, ^b
^a:
  \"t.key\"() : () -> ()
  cf.br ^a
^b:
  return
}",
        has_key,
    ),
    (
        "take one side",
        "func.func @f(%c: i1) {
  cf.cond_br %c, ^a, ^b
^a:
  \"t.key\"() : () -> ()
  return
^b:
  return
}",
        has_key,
    ),
    ("merge blocks", "func.func @f() {\n  cf.br ^a\n^a:\n  \"t.key\"() : () -> ()\n  return\n}", has_key),
    ("drop ops", "\"t.key\"() : () -> ()\n\"t.other\"() : () -> ()", has_key),
    (
        "run regions once",
        "func.func @f(%n: index) {
  %c1 = arith.constant 1 : index
  scf.for %i = %n to %n step %c1 { \"t.key\"(%i) : (index) -> () }
  return
}",
        has_key,
    ),
    (
        "drop ops for arguments",
        "func.func @f(%a: i32) {
  %x = \"t.x\"(%a) : (i32) -> i32
  \"t.key\"(%a, %x) : (i32, i32) -> ()
  return
}",
        |m| key_operand(m, 0).is_some_and(|a| key_operand(m, 1).is_some_and(|b| a != b)),
    ),
    (
        "return an earlier value",
        "func.func @f() -> i1 {
  %x = \"t.key\"() : () -> i32
  %r = arith.cmpi eq, %x, %x : i32
  return %r : i1
}",
        |m| find(m, "func.return").is_some_and(|end| m.operands(end).iter().any(|&v| comes_from_key(m, v))),
    ),
    (
        "ops to zero",
        "func.func @f() {\n  %x = \"t.x\"() : () -> i32\n  \"t.key\"(%x) : (i32) -> ()\n  return\n}",
        |m| key_operand(m, 0).is_some_and(|v| m.defining_op(v).is_some()) && key_constant(m) != Some(1),
    ),
    ("ops to one", "func.func @f() {\n  %x = \"t.x\"() : () -> i32\n  \"t.key\"(%x) : (i32) -> ()\n  return\n}", |m| {
        key_operand(m, 0).is_some_and(|v| m.defining_op(v).is_some()) && key_constant(m) != Some(0)
    }),
    (
        "operands to arguments",
        "func.func @f(%a: i32) {
  %x = \"t.x\"() : () -> i32
  \"t.key\"(%x) : (i32) -> ()
  \"t.other\"(%x, %a) : (i32, i32) -> ()
  return
}",
        |m| {
            let from_x = key_operand(m, 0).is_some_and(|v| m.defining_op(v).is_some_and(|op| m.name_text(op) == "t.x"));
            from_x && find(m, "t.other").is_some_and(|op| m.operands(op).len() == 2)
        },
    ),
    (
        "drop carried values",
        "func.func @f(%n: index, %a: i32, %b: f32) {
  %r:2 = scf.for %i = %n to %n step %n iter_args(%x = %a, %y = %b) -> (i32, f32) {
    scf.yield %x, %y : i32, f32
  }
  return
}",
        |m| find(m, "scf.for").is_some(),
    ),
    (
        "drop block arguments",
        "func.func @f(%c: i1, %a: i32) {
  cf.br ^a(%a : i32)
^a(%x: i32):
  \"t.key\"(%x) : (i32) -> ()
  cf.cond_br %c, ^a(%x : i32), ^b
^b:
  return
}",
        |m| {
            has_key(m)
                && find(m, "cf.cond_br").is_some_and(|op| m.successors(op).contains(&m.parent_block(op).unwrap()))
        },
    ),
    (
        "drop results of functions",
        "func.func @f(%a: i32) -> i32 {\n  \"t.key\"() : () -> ()\n  return %a : i32\n}",
        |m| has_key(m) && find(m, "func.return").is_some(),
    ),
    ("drop parameters", "func.func @f(%a: i32) {\n  \"t.key\"() : () -> ()\n  return\n}", has_key),
    (
        "smaller extents",
        "func.func @f(%a: tensor<40x?xi8>) {\n  \"t.key\"(%a) : (tensor<40x?xi8>) -> ()\n  return\n}",
        |m| key_operand(m, 0).is_some_and(|v| matches!(m.ctx.type_data(m.value_type(v)), TypeData::Tensor { .. })),
    ),
    ("smaller types", "func.func @f(%a: i64) {\n  \"t.key\"(%a) : (i64) -> ()\n  return\n}", |m| {
        key_operand(m, 0).is_some()
    }),
    ("drop attributes", "\"t.key\"() {a = 1 : i32} : () -> ()", has_key),
    (
        "default attributes",
        "func.func @f(%a: i8) -> i8 {\n  %0 = arith.addi %a, %a overflow<nsw> : i8\n  return %0 : i8\n}",
        |m| find(m, "arith.addi").is_some(),
    ),
    (
        "constants to zero",
        "func.func @f() {\n  %x = arith.constant 77 : i8\n  \"t.key\"(%x) : (i8) -> ()\n  return\n}",
        |m| key_constant(m).is_some(),
    ),
    (
        "constants to one",
        "func.func @f() {\n  %x = arith.constant 77 : i8\n  \"t.key\"(%x) : (i8) -> ()\n  return\n}",
        |m| key_constant(m).is_some_and(|n| n != 0),
    ),
    (
        "halve constants",
        "func.func @f() {\n  %x = arith.constant 77 : i8\n  \"t.key\"(%x) : (i8) -> ()\n  return\n}",
        |m| key_constant(m).is_some_and(|n| n > 9),
    ),
];

fn size(m: &Module) -> Size {
    Size::of(m, &mut Weights::default())
}

#[test]
fn each_move_is_needed() {
    for &(name, text, interesting) in CASES {
        let m = parse(text);
        assert!(interesting(&m), "{name}: the program is not interesting");
        let reduced = reduce(&m, &mut |m| interesting(m), &ReduceOptions::default());
        let others: Vec<_> = reductions().into_iter().filter(|reduction| reduction.name != name).collect();
        let oracle = &mut |all: &[Module]| all.iter().position(interesting);
        let without = reduce_by(&others, &m, oracle, &ReduceOptions::default(), &mut |_| ());
        let text = |m: &Module| m.to_text(PrintOptions::default());
        let both = format!("{name}\n{}\n{}", text(&reduced.module), text(&without.module));
        assert!(size(&reduced.module) < size(&without.module), "{both}");
        assert!(verify(&reduced.module).is_ok() && interesting(&reduced.module), "{both}");
    }
}

#[test]
fn each_move_has_a_case() {
    let missing: Vec<&str> = reductions()
        .into_iter()
        .map(|reduction| reduction.name)
        .filter(|name| CASES.iter().all(|case| case.0 != *name))
        .collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn what_is_left_is_minimal_or_the_limit_is_said() {
    let lines: String = (0..200).map(|i| format!("\"t.op{i}\"() : () -> ()\n")).collect();
    let m = parse(&(lines + "\"t.key\"() : () -> ()\n"));
    let reduced = reduce(&m, &mut has_key, &ReduceOptions::default());
    assert_eq!((reduced.stop_reason, reduced.module.num_ops()), (StopReason::Minimal, 2));
    assert!(reduced.candidates < 40, "{}", reduced.candidates);
    let cut = reduce(&m, &mut has_key, &ReduceOptions { candidates: 3, ..ReduceOptions::default() });
    assert_eq!((cut.stop_reason, cut.candidates), (StopReason::Limit, 3));
    assert!(has_key(&cut.module));
    let nothing = reduce(&m, &mut |_| false, &ReduceOptions::default());
    assert_eq!((nothing.stop_reason, nothing.module.num_ops()), (StopReason::Minimal, m.num_ops()));
}

/// Batches give the same program as single candidates, because the first interesting candidate is kept.
#[test]
fn batches_give_the_same() {
    let (_, text, interesting) = CASES[2];
    let m = parse(text);
    let one = reduce(&m, &mut |m| interesting(m), &ReduceOptions::default());
    let oracle = &mut |all: &[Module]| {
        assert!((1..=4).contains(&all.len()));
        all.iter().position(interesting)
    };
    let four =
        reduce_by(&reductions(), &m, oracle, &ReduceOptions { batch: 4, ..ReduceOptions::default() }, &mut |_| ());
    let text = |m: &Module| m.to_text(PrintOptions::default());
    assert_eq!(text(&one.module), text(&four.module));
}

#[test]
fn a_copy_is_the_same_program() {
    for (name, text, _) in CASES {
        let m = parse(text);
        let copy = compact(&m);
        verify(&copy).unwrap_or_else(|d| panic!("{name}: {}", d[0].message));
        let generic = PrintOptions { generic: true, ..PrintOptions::default() };
        assert_eq!(m.to_text(generic), copy.to_text(generic), "{name}");
    }
}
