//! `gradus run`: what it shows of results, and how it compares them.

mod support;

use gradus::ir::Tensor;
use gradus::runtime::npy::write_npy;
use support::{Output, gradus};

/// Runs a program in a folder of its own, with `want` as what `result0` is expected to be.
fn run(program: &str, want: Option<Tensor>, flags: &[&str]) -> Output {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let path = |name: &str| folder.path().join(name).display().to_string();
    std::fs::write(path("program.mlir"), program).expect("a file can be written");
    let mut args = vec!["run".to_owned(), path("program.mlir")];
    if let Some(want) = want {
        write_npy(path("want.npy").as_ref(), &want).expect("a file can be written");
        args.extend(["--expect".to_owned(), format!("result0={}", path("want.npy"))]);
    }
    args.extend(flags.iter().map(|&flag| flag.to_owned()));
    gradus(&args)
}

#[test]
fn values_are_shown_as_what_they_are() {
    let program = "func.func @main() -> (i64, i1, i8, index, f32, f32, f64, tensor<2xui64>, tensor<12xi32>, tensor<2xi1>) {
  %0 = arith.constant 9007199254740993 : i64
  %1 = arith.constant true
  %2 = arith.constant -128 : i8
  %3 = arith.constant -9223372036854775808 : index
  %4 = arith.constant 1.0e-9 : f32
  %5 = arith.constant 0.1 : f32
  %6 = arith.constant 0x7FF0000000000000 : f64
  %7 = graph.constant dense<[1, 18446744073709551615]> : tensor<2xui64>
  %8 = arith.constant dense<-7> : tensor<12xi32>
  %9 = arith.constant dense<[true, false]> : tensor<2xi1>
  return %0, %1, %2, %3, %4, %5, %6, %7, %8, %9 : i64, i1, i8, index, f32, f32, f64, tensor<2xui64>, tensor<12xi32>, tensor<2xi1>
}
";
    let output = run(program, None, &[]);
    assert_eq!((output.code, output.err.as_str()), (0, ""));
    let shown = "result0: i64 = 9007199254740993
result1: i1 = true
result2: i8 = -128
result3: index = -9223372036854775808
result4: f32 = 1.000000e-9
result5: f32 = 0.100000
result6: f64 = inf
result7: tensor<2xui64> = [1, 18446744073709551615]
result8: tensor<12xi32> = [-7, -7, -7, -7, -7, -7, -7, -7, -7, -7, ...]
result9: tensor<2xi1> = [true, false]
";
    assert_eq!(output.out, shown);
}

/// A function that returns a tensor of two numbers.
fn pair(ty: &str, values: &str) -> String {
    format!(
        "func.func @main() -> tensor<2x{ty}> {{\n  %0 = arith.constant dense<{values}> : tensor<2x{ty}>\n  return %0 : tensor<2x{ty}>\n}}\n"
    )
}

#[test]
fn integers_must_be_equal_unless_told_otherwise() {
    let program = pair("i64", "[9007199254740993, 1000]");
    let want = |second: i64| Some(Tensor::from_vec(&[2], vec![9_007_199_254_740_993, second]));
    let equal = run(&program, want(1000), &[]);
    assert_eq!(equal.code, 0, "{}", equal.out);
    assert!(equal.out.ends_with("result0: agrees (largest difference 0, exact)\n"), "{}", equal.out);
    let off = run(&program, want(1001), &[]);
    assert_eq!(off.code, 1);
    assert!(off.out.ends_with("differs in 1 of 2 elements (largest difference 1, exact)\n"), "{}", off.out);
    assert_eq!(run(&program, want(1001), &["--atol", "1", "--rtol", "0"]).code, 0);
    // As floats the first two are the same.
    let near = Some(Tensor::from_vec(&[2], vec![9_007_199_254_740_992i64, 1000]));
    assert_eq!(run(&program, near, &[]).code, 1);
}

#[test]
fn floats_may_be_off_by_the_tolerance() {
    let program = pair("f32", "[100.0, 0x7FC00000]");
    let want = |first: f32| Some(Tensor::from_vec(&[2], vec![first, f32::NAN]));
    assert_eq!(run(&program, want(100.05), &[]).code, 0);
    assert_eq!(run(&program, want(100.05), &["--rtol", "1e-5"]).code, 1);
    assert_eq!(run(&program, Some(Tensor::from_vec(&[2], vec![100f32, 1.0])), &[]).code, 1);
    assert_eq!(run(&program, Some(Tensor::from_vec(&[1, 2], vec![100f32, f32::NAN])), &[]).code, 1);
}
