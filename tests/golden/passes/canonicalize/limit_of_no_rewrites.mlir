// RUN: gradus opt %s --canonicalize='max-iterations=-1 max-num-rewrites=0' | FileCheck %s

// No rewrite is allowed, and no number of rounds changes that.
// CHECK-LABEL: func.func @f(
// CHECK: arith.addi
func.func @f(%a: i32) -> i32 {
  %c0 = arith.constant 0 : i32
  %0 = arith.addi %a, %c0 : i32
  return %0 : i32
}
