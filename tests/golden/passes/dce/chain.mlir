// RUN: gradus opt %s --dce | FileCheck %s
// NOTE: 'gradus update-checks' writes the directives in this file

// CHECK-LABEL: func.func @chain(
// CHECK-SAME:  [[ARG0:%.*]]: i32) -> i32 {
// CHECK-NEXT:    [[V0:%.*]] = arith.xori [[ARG0]], [[ARG0]] : i32
// CHECK-NEXT:    return [[V0]] : i32
// CHECK-NEXT:  }
func.func @chain(%a: i32) -> i32 {
  %0 = arith.addi %a, %a : i32
  %1 = arith.muli %0, %a : i32
  %2 = arith.subi %1, %0 : i32
  %3 = arith.xori %a, %a : i32
  return %3 : i32
}
// CHECK-LABEL: func.func @one_of_two(
// CHECK-SAME:  [[ARG0:%.*]]: i8, [[ARG1:%.*]]: i8) -> i1 {
// CHECK-NEXT:    [[SUM:%.*]], [[OVERFLOW:%.*]] = arith.addui_extended [[ARG0]], [[ARG1]] : i8, i1
// CHECK-NEXT:    return [[OVERFLOW]] : i1
// CHECK-NEXT:  }
func.func @one_of_two(%a: i8, %b: i8) -> i1 {
  %0, %1 = arith.addui_extended %a, %b : i8, i1
  %2, %3 = arith.mulsi_extended %a, %b : i8
  return %1 : i1
}
