// RUN: gradus opt %s --no-implicit-module --pass-pipeline='func.func(cse)' --mlir-print-ir-after-all

func.func @alone(%a: i32) -> i32 {
  %0 = arith.muli %a, %a : i32
  %1 = arith.muli %a, %a : i32
  %2 = arith.addi %0, %1 : i32
  return %2 : i32
}
