// RUN: gradus opt %s --dce --cse --mlir-print-ir-after-all --mlir-print-ir-after-change -o - 2>&1 | FileCheck %s

// There is no dead code, so only cse is logged, before the result.

// CHECK-NOT:   IR Dump After {{.*}}{{dce|DCE}}
// CHECK:       IR Dump After {{.*}}{{cse|CSE}}
// CHECK-COUNT-2: arith.muli
// CHECK-NOT:   IR Dump
func.func @f(%a: i32) -> i32 {
  %0 = arith.muli %a, %a : i32
  %1 = arith.muli %a, %a : i32
  %2 = arith.addi %0, %1 : i32
  return %2 : i32
}
