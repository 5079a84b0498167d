//! Differences that a comparison of two programs reports: effects before undefined behavior, output, orders of parallel loops, leaks,
//! poison elements.

use gradus::Tool;
use gradus::check::{Floats, Options, Reference, Verdict};
use gradus::interp::Interpreter;
use gradus::ir::eval::{Datum, Trap, ints_to_tensor};
use gradus::ir::{Context, DType, Module, ParseOptions, parse_module, verify};
use std::sync::Arc;

fn parsed(ctx: &Arc<Context>, text: &str) -> Module {
    let m =
        parse_module(ctx, "test", text.to_owned(), ParseOptions::default()).unwrap_or_else(|e| panic!("{e:?}\n{text}"));
    verify(&m).unwrap_or_else(|e| panic!("{e:?}\n{text}"));
    m
}

/// Returns the verdict on the only function, and the report of a difference.
pub fn compare(before: &str, after: &str, options: Options) -> (Verdict, String) {
    let ctx = Tool::gradus().context();
    let (before, after) = (parsed(&ctx, before), parsed(&ctx, after));
    let reference = Reference::new(&before, options);
    let (name, _, verdict) = reference.compare(&after).next().expect("a function");
    let report = match &verdict {
        Verdict::Different(difference) => reference.error(name, difference, "after").render(&ctx),
        _ => String::new(),
    };
    (verdict, report)
}

pub fn is_same(verdict: &Verdict) -> bool {
    matches!(verdict, Verdict::Same { .. })
}

pub fn differs(verdict: &Verdict) -> bool {
    matches!(verdict, Verdict::Different(_))
}

#[test]
fn a_loop_fills_an_empty_tensor() {
    let fill = |value: &str| {
        format!(
            "func.func @f(%n: index) -> tensor<?xi32> {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %empty = tensor.empty(%n) : tensor<?xi32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%t = %empty) -> tensor<?xi32> {{
    %v = arith.index_cast %i : index to i32
    %w = {value} : i32
    %u = tensor.insert %w into %t[%i] : tensor<?xi32>
    scf.yield %u : tensor<?xi32>
  }}
  return %r : tensor<?xi32>
}}"
        )
    };
    let (double, sum) = (fill("arith.muli %v, %v"), fill("arith.addi %v, %v"));
    assert!(differs(&compare(&double, &sum, Options::default()).0));
    let other = fill("arith.shli %v, %v")
        .replace("arith.shli %v, %v : i32", "arith.muli %v, %v : i32\n    %d = arith.subi %w, %w : i32");
    assert!(is_same(&compare(&double, &other, Options::default()).0));
}

#[test]
fn calls_before_undefined_behavior_count_in_the_strict_mode() {
    let with = |call: &str| {
        format!(
            "func.func private @out(i32)
func.func @f(%a: i32) -> i32 {{
  {call}
  %zero = arith.constant 0 : i32
  %r = arith.divsi %a, %zero : i32
  return %r : i32
}}"
        )
    };
    let (calls, silent) = (with("call @out(%a) : (i32) -> ()"), with(""));
    let strict = Options { strict_ub: true, ..Options::default() };
    assert!(matches!(compare(&calls, &silent, Options::default()).0, Verdict::Inconclusive(_)));
    assert!(differs(&compare(&calls, &silent, strict).0));
    let twice = with("call @out(%a) : (i32) -> ()\n  call @out(%a) : (i32) -> ()");
    assert!(is_same(&compare(&calls, &twice, strict).0));
    assert!(differs(&compare(&twice, &calls, strict).0));
}

#[test]
fn output_is_observed() {
    let print = |what: &str| format!("func.func @f(%a: i32, %b: i32) {{\n  vector.print %{what} : i32\n  return\n}}");
    assert!(differs(&compare(&print("a"), &print("b"), Options::default()).0));
}

#[test]
fn parallel_loops_run_in_other_orders() {
    let last = |op: &str| {
        format!(
            "func.func @f(%m: memref<4xi32>) -> index {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %r = {op} (%i) = (%c0) to (%c4) step (%c1) init (%c0) -> index {{
    %j = arith.addi %i, %c0 : index
    %v = arith.index_cast %j : index to i32
    memref.store %v, %m[%i] : memref<4xi32>
    scf.reduce(%j : index) {{
    ^bb0(%x: index, %y: index):
      %z = arith.SUM %x, %y : index
      scf.reduce.return %z : index
    }}
  }}
  return %r : index
}}"
        )
    };
    let sum = last("scf.parallel").replace("SUM", "addi");
    let moved = sum.replace("arith.addi %i, %c0", "arith.addi %c0, %i");
    assert!(is_same(&compare(&sum, &moved, Options::default()).0));
    // A subtraction depends on the order; the original does so, too.
    let difference = last("scf.parallel").replace("SUM", "subi");
    assert!(is_same(
        &compare(&difference, &difference.replace("arith.addi %i, %c0", "arith.addi %c0, %i"), Options::default()).0
    ));
    assert!(differs(&compare(&sum, &difference, Options::default()).0));
}

#[test]
fn leaks_are_counted() {
    let with = |free: &str| {
        format!(
            "func.func @f(%a: i32) -> i32 {{
  %m = memref.alloc() : memref<i32>
  memref.store %a, %m[] : memref<i32>
  %v = memref.load %m[] : memref<i32>
  {free}
  return %v : i32
}}"
        )
    };
    let (frees, leaks) = (with("memref.dealloc %m : memref<i32>"), with(""));
    assert!(matches!(compare(&frees, &leaks, Options::default()).0, Verdict::Same { leaks: 1.., .. }));
    assert!(matches!(compare(&leaks, &frees, Options::default()).0, Verdict::Same { leaks: 0, .. }));
}

#[test]
fn another_memory_of_equal_contents_is_reported_as_such() {
    let same = "func.func @f(%m: memref<2xi32>) -> memref<2xi32> {
  return %m : memref<2xi32>
}";
    let copy = "func.func @f(%m: memref<2xi32>) -> memref<2xi32> {
  %n = memref.alloc() : memref<2xi32>
  memref.copy %m, %n : memref<2xi32> to memref<2xi32>
  return %n : memref<2xi32>
}";
    let (verdict, report) = compare(same, copy, Options::default());
    assert!(differs(&verdict) && report.contains("results differ only in the memory that they refer to"), "{report}");
}

#[test]
fn conversions_between_floats_are_checked_exactly() {
    let first = "func.func @f(%a: f64, %b: f64) -> f32 {
  %s = arith.addf %a, %b : f64
  %r = arith.truncf %s : f64 to f32
  return %r : f32
}";
    let last = "func.func @f(%a: f64, %b: f64) -> f32 {
  %x = arith.truncf %a : f64 to f32
  %y = arith.truncf %b : f64 to f32
  %r = arith.addf %x, %y : f32
  return %r : f32
}";
    let exact = Options { floats: Floats::Exact, ..Options::default() };
    assert!(is_same(&compare(first, last, exact).0));
    assert!(differs(&compare(first, &last.replace("arith.addf", "arith.subf"), exact).0));
}

/// A float that jumps excuses no other value.
#[test]
fn integers_are_exact_beside_rounded_floats() {
    let program = |number: i64| {
        format!(
            "func.func @f(%a: f32, %b: i32) -> (f32, i32, i32) {{
  %k = arith.constant 1.0e6 : f32
  %m = arith.mulf %a, %k : f32
  %s = math.sin %m : f32
  %i = arith.fptosi %m : f32 to i32
  %c = arith.constant {number} : i32
  %r = arith.addi %b, %c : i32
  return %s, %i, %r : f32, i32, i32
}}"
        )
    };
    for floats in [Floats::Exact, Floats::Rounding, Floats::Quantized, Floats::Approximate] {
        let options = Options { floats, ..Options::default() };
        assert!(differs(&compare(&program(1), &program(2), options).0), "{floats:?}");
        assert!(!differs(&compare(&program(1), &program(1), options).0), "{floats:?}");
    }
}

/// A result above the elements that fuel allows ends the run before it is computed.
#[test]
fn fuel_limits_elements() {
    let ctx = Tool::gradus().context();
    let m = parsed(
        &ctx,
        "func.func @main(%n: tensor<i64>) -> tensor<?xf32> {
  %w = \"graph.hann_window\"(%n) : (tensor<i64>) -> tensor<?xf32>
  return %w : tensor<?xf32>
}",
    );
    let mut interpreter = Interpreter::new(&m).fuel(100).elements_per_op(10);
    let main = interpreter.function("main").expect("a function");
    let mut run = |size: i64| interpreter.call(main, vec![Datum::Tensor(ints_to_tensor(DType::I64, &[], &[size]))]);
    assert!(run(500).is_ok());
    let stop = run(1 << 26).expect_err("too many elements");
    assert!(matches!(stop.trap, Trap::Unknown(_)), "{stop:?}");
}

#[test]
fn large_memory_is_an_input() {
    let load = |row: i64| {
        format!(
            "func.func @f(%m: memref<128x128xi32>) -> i32 {{
  %c = arith.constant {row} : index
  %v = memref.load %m[%c, %c] : memref<128x128xi32>
  return %v : i32
}}"
        )
    };
    assert!(differs(&compare(&load(3), &load(4), Options::default()).0));
}

#[test]
fn nested_functions_are_not_called_from_outside() {
    let nested = "module {
  func.func nested @f(%a: i32) -> i32 {
    return %a : i32
  }
}";
    let ctx = Tool::gradus().context();
    assert!(Reference::new(&parsed(&ctx, nested), Options::default()).is_empty());
}

#[test]
fn scalable_vectors_are_executed() {
    let last = |value: &str| {
        format!(
            "func.func @f(%a: vector<[4]xi32>) -> i32 {{
  %scale = vector.vscale
  %c4 = arith.constant 4 : index
  %c1 = arith.constant 1 : index
  %n = arith.muli %scale, %c4 : index
  %at = arith.subi %n, %c1 : index
  %one = arith.constant dense<1> : vector<[4]xi32>
  %b = arith.addi %a, %one : vector<[4]xi32>
  %r = vector.extract %{value}[%at] : i32 from vector<[4]xi32>
  return %r : i32
}}"
        )
    };
    assert!(differs(&compare(&last("a"), &last("b"), Options::default()).0));
}
