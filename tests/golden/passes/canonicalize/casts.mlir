// RUN: gradus opt %s --canonicalize | FileCheck %s
// NOTE: 'gradus update-checks' writes the directives in this file

// CHECK-LABEL: func.func @constants() -> (i32, i32, f32, f32, i8, index, f16) {
// CHECK-NEXT:    [[CST:%.*]] = arith.constant 2.550000e+02 : f16
// CHECK-NEXT:    [[C_1:%.*]] = arith.constant -1 : index
// CHECK-NEXT:    [[CST_0:%.*]] = arith.constant 2.550000e+02 : f32
// CHECK-NEXT:    [[C_1_I32:%.*]] = arith.constant -1 : i32
// CHECK-NEXT:    [[C255_I32:%.*]] = arith.constant 255 : i32
// CHECK-NEXT:    [[V0:%.*]] = arith.fptosi [[CST_0]] : f32 to i8
// CHECK-NEXT:    return [[C255_I32]], [[C_1_I32]], [[CST_0]], [[CST_0]], [[V0]], [[C_1]], [[CST]] : i32, i32, f32, f32, i8, index, f16
// CHECK-NEXT:  }
func.func @constants() -> (i32, i32, f32, f32, i8, index, f16) {
  %a = arith.constant -1 : i8
  %0 = arith.extui %a : i8 to i32
  %1 = arith.extsi %a : i8 to i32
  %2 = arith.sitofp %0 : i32 to f32
  %3 = arith.uitofp %a : i8 to f32
  %4 = arith.fptosi %2 : f32 to i8
  %5 = arith.index_cast %a : i8 to index
  %6 = arith.truncf %2 : f32 to f16
  return %0, %1, %2, %3, %4, %5, %6 : i32, i32, f32, f32, i8, index, f16
}
// CHECK-LABEL: func.func @bits(
// CHECK-SAME:  [[ARG0:%.*]]: i32) -> i32 {
// CHECK-NEXT:    return [[ARG0]] : i32
// CHECK-NEXT:  }
func.func @bits(%a: i32) -> i32 {
  %0 = arith.bitcast %a : i32 to i32
  return %0 : i32
}
