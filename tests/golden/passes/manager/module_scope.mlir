// RUN: gradus opt %s --pass-pipeline='builtin.module(func.func(cse,canonicalize),cse,builtin.module(func.func(cse)))' --mlir-disable-threading --mlir-print-ir-after=canonicalize --mlir-print-ir-module-scope

// The banner names the op that the pass ran on.
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
