// RUN: gradus opt %s --pass-pipeline='builtin.module(func.func(cse),builtin.module(cse),dce,cse)' --mlir-pass-statistics

func.func @f(%a: i32) -> i32 {
  %0 = arith.muli %a, %a : i32
  %1 = arith.muli %a, %a : i32
  %2 = arith.addi %0, %1 : i32
  %3 = arith.addi %0, %1 : i32
  return %2 : i32
}
