//! Float rewrites: those that only round pass, wrong ones are found, each in its mode.

use super::{check_program, tool_with};
use gradus::Tool;
use gradus::ir::rules::{Rule, rule};
use gradus_golden::{Output, run};

/// Modes in which rounding is no difference.
const MODES: [&str; 3] = ["exact", "algebra", "rounding"];

const SUM: &str = "func.func @f(%a: tensor<4xf32>, %b: tensor<4xf32>, %c: tensor<4xf32>) -> tensor<4xf32> {
  %0 = arith.subf %a, %b : tensor<4xf32>
  %1 = arith.addf %0, %c : tensor<4xf32>
  return %1 : tensor<4xf32>
}
";
const DIFFERENCE: &str = "func.func @f(%a: f32, %b: f32, %c: f32) -> f32 {
  %0 = arith.subf %a, %b : f32
  %1 = arith.subf %0, %c : f32
  return %1 : f32
}
";
const PRODUCTS: &str = "func.func @f(%a: f32, %b: f32, %c: f32) -> f32 {
  %0 = arith.mulf %a, %b : f32
  %1 = arith.mulf %a, %c : f32
  %2 = arith.addf %0, %1 : f32
  return %2 : f32
}
";
const FLOOR: &str = "func.func @f(%a: f32, %b: f32, %c: f32) -> i32 {
  %0 = arith.subf %a, %b : f32
  %1 = arith.addf %0, %c : f32
  %2 = math.floor %1 : f32
  %3 = arith.fptosi %2 : f32 to i32
  return %3 : i32
}
";
const THIRD: &str = "func.func @f(%a: f32) -> f32 {
  %c = arith.constant 3.0 : f32
  %0 = arith.divf %a, %c : f32
  return %0 : f32
}
";

const REGROUP: Rule = rule("regroup", "arith.addf(arith.subf(a, b), c) => arith.subf(a, arith.subf(b, c))");

/// Rules that hold for real numbers, with programs to which they apply.
static RIGHT: &[(Rule, &str)] = &[
    (REGROUP, SUM),
    (REGROUP, FLOOR),
    (rule("regroup-difference", "arith.subf(arith.subf(a, b), c) => arith.subf(a, arith.addf(b, c))"), DIFFERENCE),
    (rule("factor", "arith.addf(arith.mulf(a, b), arith.mulf(a, c)) => arith.mulf(a, arith.addf(b, c))"), PRODUCTS),
];

/// Rules that do not.
static WRONG: &[(Rule, &str)] = &[
    (rule("wrong-group", "arith.subf(arith.subf(a, b), c) => arith.subf(a, arith.subf(b, c))"), DIFFERENCE),
    (
        rule("wrong-factor", "arith.addf(arith.mulf(a, b), arith.mulf(a, c)) => arith.mulf(a, arith.subf(b, c))"),
        PRODUCTS,
    ),
    (rule("lost-term", "arith.addf(arith.subf(a, b), c) => arith.addf(a, c)"), SUM),
    (rule("lost-term-before-floor", "arith.addf(arith.subf(a, b), c) => arith.addf(a, c)"), FLOOR),
];

/// Checks a rule in a mode.
fn check(rule: &'static Rule, program: &str, mode: &str) -> Output {
    check_program(&tool_with(rule), program, &[&format!("--floats={mode}"), "--canonicalize"])
}

#[test]
fn regrouped_sums_pass_where_only_rounding_differs() {
    for (rule, program) in RIGHT {
        let bits = check(rule, program, "bits");
        assert_eq!(bits.code, 1, "{}, bits:\n{}{}", rule.name, bits.out, bits.err);
        for mode in MODES {
            let output = check(rule, program, mode);
            assert_eq!(output.code, 0, "{}, {mode}:\n{}{}", rule.name, output.out, output.err);
        }
    }
}

#[test]
fn wrong_algebra_is_found_in_every_mode() {
    for (rule, program) in WRONG {
        for mode in MODES {
            let output = check(rule, program, mode);
            let found = output.code == 1 && output.err.contains(&format!("pattern: {}", rule.name));
            assert!(found, "{}, {mode}:\n{}{}", rule.name, output.out, output.err);
        }
    }
}

/// The reciprocal of three is rounded, also on small integers.
#[test]
fn what_is_rounded_everywhere_is_compared_up_to_rounding() {
    static RULE: Rule = rule("reciprocal", "arith.divf(x, 3.0) => arith.mulf(x, 0.3333333333333333)");
    static WRONG: Rule = rule("wrong-reciprocal", "arith.divf(x, 3.0) => arith.mulf(x, 0.3333)");
    for mode in MODES {
        assert_eq!(check(&RULE, THIRD, mode).code, 0, "{mode}");
        assert_eq!(check(&WRONG, THIRD, mode).code, 1, "{mode}");
    }
}

/// Behind a pass that reorders sums, a pass that keeps floats is held to their bits: the sum of -0 and 0 is 0.
#[test]
fn a_pass_that_keeps_floats_keeps_the_sign_of_zero() {
    static WRONG: Rule = rule("plus-zero", "arith.addf(x, 0.0) => x");
    let program = "func.func @f(%a: f32) -> f32 {
  %zero = arith.constant 0.0 : f32
  %0 = arith.addf %a, %zero : f32
  return %0 : f32
}
func.func @mean(%x: tensor<1x1x2x2xf32>) -> tensor<1x1x1x1xf32> {
  %0 = graph.global_average_pool %x : (tensor<1x1x2x2xf32>) -> tensor<1x1x1x1xf32>
  return %0 : tensor<1x1x1x1xf32>
}
";
    let flags = ["--convert-graph-to-addr", "--canonicalize"];
    let right = check_program(&Tool::gradus(), program, &flags);
    let mode = "@mean: no difference on 200 inputs (0 undefined, 0 discarded) with --floats=reordered";
    assert!(right.code == 0 && right.out.contains(mode), "{}{}", right.out, right.err);
    let wrong = check_program(&tool_with(&WRONG), program, &flags);
    assert!(wrong.code == 1 && wrong.err.contains("before: returns 0.000000e+00"), "{}{}", wrong.out, wrong.err);
    assert!(wrong.err.contains("pattern: plus-zero") && wrong.err.contains("bit by bit"), "{}", wrong.err);
}

/// Checks two programs.
fn check_pair(before: &str, after: &str, flags: &[&str]) -> Output {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let paths = ["before.mlir", "after.mlir"].map(|name| folder.path().join(name).display().to_string());
    for (path, text) in paths.iter().zip([before, after]) {
        std::fs::write(path, text).expect("a file can be written");
    }
    run(&Tool::gradus(), &[&["check", &paths[0], &paths[1]], flags].concat())
}

/// Returns a convolution followed by batch normalization, and with normalization folded into its weights. Variance plus
/// epsilon is 1, so that all constants are exact.
fn networks() -> [String; 3] {
    let conv = |weights: &str, bias: &str| {
        format!(
            "func.func @f(%x: tensor<1x1x4x4xf32>) -> tensor<1x2x3x3xf32> {{
  %w = graph.constant dense<{weights}> : tensor<2x1x2x2xf32>
  %b = graph.constant dense<{bias}> : tensor<2xf32>
  %0 = graph.conv %x, %w, %b : (tensor<1x1x4x4xf32>, tensor<2x1x2x2xf32>, tensor<2xf32>) -> tensor<1x2x3x3xf32>
"
        )
    };
    let before = conv("[[[[1.0, 2.0], [-1.0, 3.0]]], [[[2.0, 0.5], [1.0, -2.0]]]]", "[1.0, -1.0]")
        + "  %s = graph.constant dense<[2.0, -4.0]> : tensor<2xf32>
  %o = graph.constant dense<[0.5, 1.0]> : tensor<2xf32>
  %m = graph.constant dense<[3.0, 2.0]> : tensor<2xf32>
  %v = graph.constant dense<0.75> : tensor<2xf32>
  %1 = graph.batch_normalization %0, %s, %o, %m, %v {epsilon = 0.25 : f32} : (tensor<1x2x3x3xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<1x2x3x3xf32>
  return %1 : tensor<1x2x3x3xf32>
}
";
    let end = "  return %0 : tensor<1x2x3x3xf32>\n}\n";
    let weights = "[[[[2.0, 4.0], [-2.0, 6.0]]], [[[-8.0, -2.0], [-4.0, 8.0]]]]";
    [before, conv(weights, "[-3.5, 13.0]") + end, conv(weights, "[2.5, 5.0]") + end]
}

#[test]
fn normalization_may_be_put_into_weights() {
    let [before, folded, without_mean] = networks();
    for mode in MODES {
        let flags = [format!("--floats={mode}"), "--inputs=20".to_owned()];
        let flags: Vec<&str> = flags.iter().map(String::as_str).collect();
        let right = check_pair(&before, &folded, &flags);
        assert_eq!(right.code, 0, "{mode}:\n{}{}", right.out, right.err);
        let wrong = check_pair(&before, &without_mean, &flags);
        assert!(
            wrong.code == 1 && wrong.err.contains("has a different meaning"),
            "{mode}:\n{}{}",
            wrong.out,
            wrong.err
        );
    }
}

#[test]
fn another_formula_is_found() {
    let gelu = |body: &str| {
        format!(
            "func.func @f(%x: f32) -> f32 {{
  %half = arith.constant 0.5 : f32
  %one = arith.constant 1.0 : f32
{body}
  %s = arith.addf %e, %one : f32
  %h = arith.mulf %x, %half : f32
  %r = arith.mulf %h, %s : f32
  return %r : f32
}}
"
        )
    };
    let erf = gelu(
        "  %c = arith.constant 0.70710678118654752 : f32\n  %y = arith.mulf %x, %c : f32\n  %e = math.erf %y : f32",
    );
    let tanh = gelu(
        "  %c = arith.constant 0.044715 : f32
  %k = arith.constant 0.7978845608 : f32
  %x2 = arith.mulf %x, %x : f32
  %x3 = arith.mulf %x2, %x : f32
  %cx = arith.mulf %x3, %c : f32
  %sum = arith.addf %x, %cx : f32
  %y = arith.mulf %sum, %k : f32
  %e = math.tanh %y : f32",
    );
    for mode in ["algebra", "rounding"] {
        let output = check_pair(&erf, &tanh, &[&format!("--floats={mode}")]);
        assert!(
            output.code == 1 && output.err.contains("has a different meaning"),
            "{mode}:\n{}{}",
            output.out,
            output.err
        );
    }
}
