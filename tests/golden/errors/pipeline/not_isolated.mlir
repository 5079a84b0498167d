// RUN: gradus opt %s --pass-pipeline='builtin.module(func.func(arith.addi(cse)))'

func.func @f(%a: i32) -> i32 {
  // expected-error@+1 {{'arith.addi' op trying to schedule a pass on an operation not marked as 'IsolatedFromAbove'}}
  %0 = arith.addi %a, %a : i32
  return %0 : i32
}
