//! Modes of comparison of floats: what each accepts, and mistakes that it must not.

use super::checking::{compare, differs, is_same};
use gradus::check::{Floats, Options, Verdict};

fn with(floats: Floats) -> Options {
    Options { floats, ..Options::default() }
}

/// Sums in two orders, the second one with a mistake: `%b` is missing, or a sign. A cast of bits has no version in `f64`.
#[test]
fn programs_without_a_version_in_f64_are_compared_up_to_rounding() {
    let before = "func.func @f(%a: f32, %b: f32, %c: f32) -> f32 {
  %0 = arith.addf %a, %b : f32
  %1 = arith.addf %0, %c : f32
  return %1 : f32
}";
    let after = "func.func @f(%a: f32, %b: f32, %c: f32) -> f32 {
  %bits = arith.bitcast %c : f32 to i32
  %d = arith.bitcast %bits : i32 to f32
  %0 = arith.addf %b, %d : f32
  %1 = arith.addf %a, %0 : f32
  return %1 : f32
}";
    for floats in [Floats::Exact, Floats::Reordered, Floats::Rounding] {
        assert!(is_same(&compare(before, after, with(floats)).0), "{floats:?}");
        for wrong in [after.replace("arith.addf %b", "arith.subf %b"), after.replace("addf %b, %d", "addf %d, %d")] {
            assert!(differs(&compare(before, &wrong, with(floats)).0), "{floats:?}");
        }
    }
}

/// A mistake that only small integers show, and one that they hide.
#[test]
fn integers_and_moderate_numbers_in_turn() {
    let program = |value: &str| {
        format!(
            "func.func @f(%a: f32) -> f32 {{
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %half = arith.constant 0.5 : f32
  %is_zero = arith.cmpf oeq, %a, %zero : f32
  %floor = math.floor %a : f32
  %part = arith.subf %a, %floor : f32
  %v = {value} : f32
  return %v : f32
}}"
        )
    };
    let right = program("arith.mulf %a, %one");
    assert!(is_same(&compare(&right, &program("arith.divf %a, %one"), with(Floats::Reordered)).0));
    for wrong in ["arith.select %is_zero, %one, %a", "arith.subf %a, %part"] {
        assert!(differs(&compare(&right, &program(wrong), with(Floats::Reordered)).0), "{wrong}");
    }
}

/// A chain of products in a narrow type, of which each rounds a little: the bound of all roundings exceeds every number, and
/// nevertheless zero is no result.
#[test]
fn many_roundings_do_not_excuse_zero() {
    let chain = |ty: &str, last: &str| {
        let steps: String = (0..64).map(|i| format!("  %{} = arith.mulf %{i}, %c : {ty}\n", i + 1)).collect();
        format!(
            "  %c = arith.constant 1.0 : {ty}\n{steps}  %d = arith.constant {last} : {ty}\n  %r = arith.mulf %64, %d : {ty}\n"
        )
    };
    let before = format!("func.func @f(%0: f32) -> f32 {{\n{}  return %r : f32\n}}", chain("f32", "1.0"));
    let after = |last: &str| {
        let chain = chain("bf16", last);
        format!(
            "func.func @f(%x: f32) -> f32 {{
  %0 = arith.truncf %x : f32 to bf16
{chain}  %y = arith.extf %r : bf16 to f32
  return %y : f32
}}"
        )
    };
    assert!(is_same(&compare(&before, &after("1.0"), with(Floats::Rounding)).0));
    assert!(differs(&compare(&before, &after("0.0"), with(Floats::Rounding)).0));
}

/// Where a narrower type has only zero for all results, nothing is known.
#[test]
fn results_that_vanish_in_a_narrower_type_are_inconclusive() {
    let before = "func.func @f(%x: f32) -> f32 {
  %c = arith.constant 1.0e-5 : f32
  %0 = arith.mulf %x, %c : f32
  %1 = arith.mulf %0, %c : f32
  return %1 : f32
}";
    let after = "func.func @f(%x: f32) -> f32 {
  %c = arith.constant 1.0e-5 : f16
  %y = arith.truncf %x : f32 to f16
  %0 = arith.mulf %y, %c : f16
  %1 = arith.mulf %0, %c : f16
  %2 = arith.extf %1 : f16 to f32
  return %2 : f32
}";
    let verdict = compare(before, after, with(Floats::Rounding)).0;
    assert!(matches!(verdict, Verdict::Inconclusive(_)), "{verdict:?}");
    // A single product is a number in f16.
    let (before, after) = (before.replace("return %1", "return %0"), after.replace("extf %1", "extf %0"));
    assert!(is_same(&compare(&before, &after, with(Floats::Rounding)).0));
    let wrong = after.replace("%0 = arith.mulf %y, %c", "%0 = arith.subf %y, %y");
    assert!(differs(&compare(&before, &wrong, with(Floats::Rounding)).0));
}

/// Large numbers of a result do not excuse errors of small ones beside them.
#[test]
fn tolerances_are_relative_to_each_number() {
    let program = |small: &str| {
        format!(
            "func.func @f(%a: f32, %b: f32) -> tensor<2xf32> {{
  %tiny = arith.constant 1.0e-9 : f32
  %0 = arith.mulf %a, %b : f32
  %1 = arith.mulf %0, %tiny : f32
  %2 = {small} : f32
  %3 = tensor.from_elements %0, %2 : tensor<2xf32>
  return %3 : tensor<2xf32>
}}"
        )
    };
    let before = program("arith.addf %1, %1");
    assert!(is_same(
        &compare(
            &before,
            &program("arith.addf %1, %1").replace("%a, %b : f32\n", "%b, %a : f32\n"),
            with(Floats::Rounding)
        )
        .0
    ));
    for wrong in ["arith.subf %1, %1", "arith.mulf %1, %1"] {
        assert!(differs(&compare(&before, &program(wrong), with(Floats::Rounding)).0), "{wrong}");
    }
}

/// A small difference of large numbers has their error.
#[test]
fn cancelled_numbers_have_the_errors_of_their_summands() {
    let sums = |first: &str, second: &str| {
        format!(
            "func.func @f(%a: tensor<4xf32>) -> f32 {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %k = arith.constant 3.1 : f32
  %x = tensor.extract %a[%c0] : tensor<4xf32>
  %y = tensor.extract %a[%c1] : tensor<4xf32>
  %0 = arith.mulf %x, %k : f32
  %1 = arith.addf {first} : f32
  %2 = arith.subf {second} : f32
  return %2 : f32
}}"
        )
    };
    let (before, after) = (sums("%0, %y", "%1, %0"), sums("%y, %0", "%1, %0"));
    assert!(is_same(&compare(&before, &after, with(Floats::Rounding)).0));
    assert!(is_same(&compare(&before, &sums("%y, %x", "%1, %x"), with(Floats::Rounding)).0));
    assert!(differs(&compare(&before, &sums("%y, %0", "%0, %1"), with(Floats::Rounding)).0));
}

/// A program that ran, and whose lowered version cannot run on any input, is wrong; an op without semantics says nothing.
#[test]
fn a_program_that_cannot_be_executed_any_more_is_wrong() {
    let before = "func.func @f(%x: tensor<3xf32>) -> tensor<3xf32> {
  return %x : tensor<3xf32>
}";
    let after = "func.func @f(%x: tensor<3xf32>) -> tensor<3xf32> {
  %i = graph.constant dense<[0, 1, 7]> : tensor<3xi64>
  %y = graph.gather %x, %i : (tensor<3xf32>, tensor<3xi64>) -> tensor<3xf32>
  return %y : tensor<3xf32>
}";
    let (verdict, report) = compare(before, after, Options::default());
    assert!(
        differs(&verdict) && report.contains("after:  cannot be executed: 'graph.gather'"),
        "{verdict:?}: {report}"
    );
    let open = "func.func @f(%x: tensor<3xf32>) -> tensor<3xf32> {
  %y = builtin.unrealized_conversion_cast %x : tensor<3xf32> to memref<3xf32>
  %z = builtin.unrealized_conversion_cast %y : memref<3xf32> to tensor<3xf32>
  return %z : tensor<3xf32>
}";
    assert!(matches!(compare(before, open, Options::default()).0, Verdict::Lost(_)));
}
