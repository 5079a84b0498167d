// RUN: gradus opt %s --cse --mlir-pass-statistics

func.func @f(%a: i32) -> i32 {
  %0 = arith.muli %a, %a : i32
  %1 = arith.muli %a, %a : i32
  %2 = arith.subi %a, %a : i32
  %3 = arith.addi %0, %1 : i32
  return %3 : i32
}
