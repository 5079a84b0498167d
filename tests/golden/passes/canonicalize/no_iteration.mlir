// RUN: gradus opt %s --canonicalize="max-iterations=0 test-convergence"

// With max-iterations=0 nothing is rewritten, and no failure to converge is reported.
func.func @f(%a: i32) -> i32 {
  %c0 = arith.constant 0 : i32
  %0 = arith.addi %a, %c0 : i32
  return %0 : i32
}
