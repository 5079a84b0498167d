// RUN: bits opt %s --raise-rotations | FileCheck %s
// NOTE: 'bits update-checks' writes the directives in this file
// CHECK-LABEL: func.func @rotation(
// CHECK-SAME:  [[ARG0:%.*]]: i32) -> i32 {
// CHECK-NEXT:    [[C5_I32:%.*]] = arith.constant 5 : i32
// CHECK-NEXT:    [[V0:%.*]] = bits.rotl [[ARG0]], [[C5_I32]] : i32
// CHECK-NEXT:    return [[V0]] : i32
// CHECK-NEXT:  }
func.func @rotation(%x: i32) -> i32 {
  %c5 = arith.constant 5 : i32
  %c27 = arith.constant 27 : i32
  %0 = arith.shli %x, %c5 : i32
  %1 = arith.shrui %x, %c27 : i32
  %2 = arith.ori %1, %0 : i32
  return %2 : i32
}
// CHECK-LABEL: func.func @no_rotation(
// CHECK-SAME:  [[ARG0:%.*]]: i32) -> i32 {
// CHECK-NEXT:    [[C5_I32:%.*]] = arith.constant 5 : i32
// CHECK-NEXT:    [[C26_I32:%.*]] = arith.constant 26 : i32
// CHECK-NEXT:    [[V0:%.*]] = arith.shli [[ARG0]], [[C5_I32]] : i32
// CHECK-NEXT:    [[V1:%.*]] = arith.shrui [[ARG0]], [[C26_I32]] : i32
// CHECK-NEXT:    [[V2:%.*]] = arith.ori [[V0]], [[V1]] : i32
// CHECK-NEXT:    return [[V2]] : i32
// CHECK-NEXT:  }
func.func @no_rotation(%x: i32) -> i32 {
  %c5 = arith.constant 5 : i32
  %c26 = arith.constant 26 : i32
  %0 = arith.shli %x, %c5 : i32
  %1 = arith.shrui %x, %c26 : i32
  %2 = arith.ori %0, %1 : i32
  return %2 : i32
}
