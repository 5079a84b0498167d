//! `gradus run`: output and comparison of results.

use crate::support::{Output, gradus};
use gradus::ir::Tensor;
use gradus::npy::write_npy;

/// Runs a program in a temporary folder, with `want` as the expected `result0`.
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

/// Returns a function that returns a tensor of two numbers.
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
    // The first two are equal as floats.
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

/// Returns a program with memory `%m` of eight zeros, a public global `%g`, and constants `%c0` and so on.
fn with_memory(body: &str) -> String {
    format!(
        "memref.global \"private\" @g : memref<8xi32> = dense<0>
func.func private @touch(%m: memref<8xi32>, %i: index) {{
  %v = memref.load %m[%i] : memref<8xi32>
  memref.store %v, %m[%i] : memref<8xi32>
  return
}}
func.func @main() -> i32 {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %one = arith.constant 1 : i32
  %m = memref.alloc() : memref<8xi32>
  scf.for %i = %c0 to %c4 step %c1 {{
    memref.store %one, %m[%i] : memref<8xi32>
  }}
  {body}
  return %one : i32
}}
"
    )
}

#[test]
fn iterations_of_parallel_loops_must_not_race() {
    let races = [
        // Two writes.
        "scf.parallel (%i) = (%c0) to (%c4) step (%c1) { memref.store %one, %m[%c0] : memref<8xi32> }",
        // A read before and after a write of another iteration.
        "scf.parallel (%i) = (%c1) to (%c4) step (%c1) {
           %v = memref.load %m[%c2] : memref<8xi32>
           memref.store %v, %m[%i] : memref<8xi32>
         }",
        "affine.parallel (%i) = (0) to (4) {
           %v = affine.load %m[%i] : memref<8xi32>
           affine.store %v, %m[%i + 1] : memref<8xi32>
         }",
        "scf.forall (%i, %j) in (2, 2) {
           %k = arith.addi %i, %j : index
           memref.store %one, %m[%k] : memref<8xi32>
         }",
        // In nested loops and callees.
        "scf.parallel (%i) = (%c0) to (%c2) step (%c1) {
           scf.parallel (%j) = (%c0) to (%c4) step (%c1) { memref.store %one, %m[%j] : memref<8xi32> }
         }",
        "scf.parallel (%i) = (%c0) to (%c2) step (%c1) { func.call @touch(%m, %c0) : (memref<8xi32>, index) -> () }",
        // Through views, copies, vectors, and globals first accessed inside.
        "scf.parallel (%i) = (%c0) to (%c2) step (%c1) {
           %view = memref.subview %m[%i] [4] [1] : memref<8xi32> to memref<4xi32, strided<[1], offset: ?>>
           memref.store %one, %view[%c1] : memref<4xi32, strided<[1], offset: ?>>
           memref.store %one, %view[%c2] : memref<4xi32, strided<[1], offset: ?>>
         }",
        "scf.parallel (%i) = (%c0) to (%c2) step (%c1) {
           %g = memref.get_global @g : memref<8xi32>
           memref.copy %m, %g : memref<8xi32> to memref<8xi32>
         }",
        "scf.parallel (%i) = (%c0) to (%c2) step (%c1) {
           %v = vector.load %m[%i] : memref<8xi32>, vector<2xi32>
           vector.store %v, %m[%i] : memref<8xi32>, vector<2xi32>
         }",
        // Reads concurrent with atomic updates.
        "scf.parallel (%i) = (%c0) to (%c2) step (%c1) {
           %old = memref.atomic_rmw addi %one, %m[%c0] : (i32, memref<8xi32>) -> i32
           %v = memref.load %m[%c0] : memref<8xi32>
         }",
        "scf.parallel (%i) = (%c0) to (%c2) step (%c1) {
           %v = memref.load %m[%i] : memref<8xi32>
           %last = arith.cmpi eq, %i, %c1 : index
           scf.if %last { memref.dealloc %m : memref<8xi32> }
         }",
    ];
    for body in races {
        let output = run(&with_memory(body), None, &[]);
        assert_eq!(output.code, 1, "{body}\n{}", output.out);
        let said = output.err.contains("undefined behavior: data race: one iteration of a parallel loop")
            || output
                .err
                .contains("undefined behavior: an iteration of a parallel loop frees memory that another one uses");
        assert!(said, "{body}\n{}", output.err);
    }
}

#[test]
fn iterations_of_parallel_loops_may_share_what_does_not_race() {
    let sound = [
        // Disjoint writes and shared reads.
        "scf.parallel (%i) = (%c1) to (%c4) step (%c1) {
           %v = memref.load %m[%c0] : memref<8xi32>
           %w = memref.load %m[%i] : memref<8xi32>
           %s = arith.addi %v, %w : i32
           memref.store %s, %m[%i] : memref<8xi32>
           memref.store %v, %m[%i] : memref<8xi32>
         }",
        // One iteration may run a nested loop twice over the same memory; the next loop is another one.
        "scf.parallel (%i) = (%c0) to (%c1) step (%c1) {
           scf.parallel (%j) = (%c0) to (%c4) step (%c1) { memref.store %one, %m[%j] : memref<8xi32> }
           scf.parallel (%j) = (%c0) to (%c4) step (%c1) { memref.store %one, %m[%j] : memref<8xi32> }
         }
         scf.parallel (%j) = (%c0) to (%c4) step (%c1) { memref.store %one, %m[%j] : memref<8xi32> }",
        // Allocations of an iteration are private.
        "scf.parallel (%i) = (%c0) to (%c4) step (%c1) {
           %own = memref.alloca() : memref<i32>
           memref.store %one, %own[] : memref<i32>
           %g = memref.get_global @g : memref<8xi32>
           %v = memref.load %g[%c0] : memref<8xi32>
         }",
        "scf.parallel (%i) = (%c0) to (%c4) step (%c1) {
           %old = memref.atomic_rmw addi %one, %m[%c0] : (i32, memref<8xi32>) -> i32
           %new = memref.generic_atomic_rmw %m[%c0] : memref<8xi32> {
           ^bb0(%v: i32):
             memref.atomic_yield %v : i32
           }
         }",
    ];
    for body in sound {
        let output = run(&with_memory(body), None, &[]);
        assert_eq!((output.code, output.out.as_str()), (0, "result0: i32 = 1\n"), "{body}\n{}", output.err);
    }
}

#[test]
fn poison_elements_are_shown() {
    let program = "func.func @main() -> (tensor<?xi32>, i32, tensor<4xf32>, index) {
  %n = arith.constant 5 : index
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %empty = tensor.empty(%n) : tensor<?xi32>
  %filled = scf.for %i = %c0 to %n step %c1 iter_args(%t = %empty) -> (tensor<?xi32>) {
    %v = arith.index_cast %i : index to i32
    %u = tensor.insert %v into %t[%i] : tensor<?xi32>
    scf.yield %u : tensor<?xi32>
  }
  %p = ub.poison : i32
  %none = tensor.empty() : tensor<4xf32>
  %f = arith.constant 2.0 : f32
  %one = tensor.insert %f into %none[%c1] : tensor<4xf32>
  %sum = arith.addf %one, %one : tensor<4xf32>
  %d = tensor.dim %none, %c0 : tensor<4xf32>
  return %filled, %p, %sum, %d : tensor<?xi32>, i32, tensor<4xf32>, index
}
";
    let output = run(program, None, &[]);
    let want = "result0: tensor<5xi32> = [0, 1, 2, 3, 4]
result1: i32 = poison
result2: tensor<4xf32> = [poison, 4.000000, poison, poison]
result3: index = 4
";
    assert_eq!((output.code, output.err.as_str(), output.out.as_str()), (0, "", want));
}

/// The number of groups is known only when the program runs.
#[test]
fn groups_must_divide_the_columns() {
    let program = "
func.func @main() -> tensor<2x4xf32> {
  %x = arith.constant dense<[1.0, 10.0, 2.0, 20.0, 3.0, 30.0]> : tensor<6xf32>
  %b = arith.constant dense<[[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [1.0, -1.0]]> : tensor<4x2xf32>
  %bases = arith.constant dense<[[0, 2], [1, 3], [0, 1]]> : tensor<3x2xi32>
  %base = tensor.cast %bases : tensor<3x2xi32> to tensor<?x2xi32>
  %relative = arith.constant dense<[0, 2]> : tensor<2xi32>
  %0 = addr.gemm %x[%base + %relative], %b : (tensor<6xf32>, tensor<?x2xi32>, tensor<2xi32>, tensor<4x2xf32>) -> tensor<2x4xf32>
  return %0 : tensor<2x4xf32>
}";
    let output = run(program, None, &[]);
    assert!(output.err.contains("'addr.gemm' undefined behavior: 3 groups do not divide 4 columns"), "{}", output.err);
}
