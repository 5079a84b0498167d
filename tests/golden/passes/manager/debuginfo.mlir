// RUN: gradus opt %s --pass-pipeline='builtin.module(func.func(cse),any(canonicalize))' --mlir-disable-threading --mlir-print-ir-before-all --mlir-print-debuginfo

// Passes on 'any' run on ops that are isolated from above.
func.func @f(%a: i32) -> i32 {
  %c0 = arith.constant 0 : i32
  %0 = arith.addi %a, %c0 : i32
  %1 = arith.addi %0, %a : i32
  %2 = arith.addi %0, %a : i32
  %3 = arith.muli %1, %2 : i32
  return %3 : i32
}
module @inner {
  func.func private @g() {
    return
  }
}
func.func @h(%a: i32) -> i32 {
  return %a : i32
}
