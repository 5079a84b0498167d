// RUN: gradus opt %s --cse | FileCheck %s
// NOTE: 'gradus update-checks' writes the directives in this file

// CHECK-LABEL: func.func @equal(
// CHECK-SAME:  [[ARG0:%.*]]: i32, [[ARG1:%.*]]: i32) -> (i32, i32, i32) {
// CHECK-NEXT:    [[V0:%.*]] = arith.addi [[ARG0]], [[ARG1]] : i32
// CHECK-NEXT:    [[V1:%.*]] = arith.subi [[ARG0]], [[ARG1]] : i32
// CHECK-NEXT:    [[V2:%.*]] = arith.subi [[ARG1]], [[ARG0]] : i32
// CHECK-NEXT:    [[V3:%.*]] = arith.muli [[V0]], [[V0]] : i32
// CHECK-NEXT:    return [[V3]], [[V1]], [[V2]] : i32, i32, i32
// CHECK-NEXT:  }
func.func @equal(%a: i32, %b: i32) -> (i32, i32, i32) {
  %0 = arith.addi %a, %b : i32
  %1 = arith.addi %a, %b : i32
  %2 = arith.addi %b, %a : i32
  %3 = arith.subi %a, %b : i32
  %4 = arith.subi %b, %a : i32
  %5 = arith.muli %1, %2 : i32
  return %5, %3, %4 : i32, i32, i32
}
// Ops with different attributes, types or flags are not equal.
// CHECK-LABEL: func.func @different(
// CHECK-SAME:  [[ARG0:%.*]]: i32, [[ARG1:%.*]]: i32) -> (i32, i32, i1, i1, i64, i16) {
// CHECK-NEXT:    [[V0:%.*]] = arith.addi [[ARG0]], [[ARG1]] : i32
// CHECK-NEXT:    [[V1:%.*]] = arith.addi [[ARG0]], [[ARG1]] overflow<nsw> : i32
// CHECK-NEXT:    [[V2:%.*]] = arith.cmpi eq, [[ARG0]], [[ARG1]] : i32
// CHECK-NEXT:    [[V3:%.*]] = arith.cmpi ne, [[ARG0]], [[ARG1]] : i32
// CHECK-NEXT:    [[V4:%.*]] = arith.extsi [[ARG0]] : i32 to i64
// CHECK-NEXT:    [[V5:%.*]] = arith.trunci [[ARG0]] : i32 to i16
// CHECK-NEXT:    return [[V0]], [[V1]], [[V2]], [[V3]], [[V4]], [[V5]] : i32, i32, i1, i1, i64, i16
// CHECK-NEXT:  }
func.func @different(%a: i32, %b: i32) -> (i32, i32, i1, i1, i64, i16) {
  %0 = arith.addi %a, %b : i32
  %1 = arith.addi %a, %b overflow<nsw> : i32
  %2 = arith.cmpi eq, %a, %b : i32
  %3 = arith.cmpi ne, %a, %b : i32
  %4 = arith.extsi %a : i32 to i64
  %5 = arith.trunci %a : i32 to i16
  return %0, %1, %2, %3, %4, %5 : i32, i32, i1, i1, i64, i16
}
// CHECK-LABEL: func.func @chains(
// CHECK-SAME:  [[ARG0:%.*]]: f32) -> f32 {
// CHECK-NEXT:    [[V0:%.*]] = arith.negf [[ARG0]] : f32
// CHECK-NEXT:    [[V1:%.*]] = arith.mulf [[V0]], [[V0]] : f32
// CHECK-NEXT:    [[V2:%.*]] = arith.addf [[V1]], [[V1]] : f32
// CHECK-NEXT:    return [[V2]] : f32
// CHECK-NEXT:  }
func.func @chains(%a: f32) -> f32 {
  %0 = arith.negf %a : f32
  %1 = arith.negf %a : f32
  %2 = arith.mulf %0, %0 : f32
  %3 = arith.mulf %1, %1 : f32
  %4 = arith.addf %2, %3 : f32
  return %4 : f32
}
// CHECK-LABEL: func.func @results(
// CHECK-SAME:  [[ARG0:%.*]]: i8, [[ARG1:%.*]]: i8) -> (i8, i1) {
// CHECK-NEXT:    [[SUM:%.*]], [[OVERFLOW:%.*]] = arith.addui_extended [[ARG0]], [[ARG1]] : i8, i1
// CHECK-NEXT:    return [[SUM]], [[OVERFLOW]] : i8, i1
// CHECK-NEXT:  }
func.func @results(%a: i8, %b: i8) -> (i8, i1) {
  %0, %1 = arith.addui_extended %a, %b : i8, i1
  %2, %3 = arith.addui_extended %a, %b : i8, i1
  return %0, %3 : i8, i1
}
