// RUN: gradus opt %s --canonicalize | FileCheck %s
// NOTE: 'gradus update-checks' writes the directives in this file

// CHECK-LABEL: func.func @known(
// CHECK-SAME:  [[ARG0:%.*]]: i32, [[ARG1:%.*]]: i32, [[ARG2:%.*]]: i1) -> (i32, i32, i32) {
// CHECK-NEXT:    return [[ARG0]], [[ARG1]], [[ARG0]] : i32, i32, i32
// CHECK-NEXT:  }
func.func @known(%a: i32, %b: i32, %c: i1) -> (i32, i32, i32) {
  %t = arith.constant true
  %f = arith.constant false
  %0 = arith.select %t, %a, %b : i32
  %1 = arith.select %f, %a, %b : i32
  %2 = arith.select %c, %a, %a : i32
  return %0, %1, %2 : i32, i32, i32
}
// CHECK-LABEL: func.func @vectors(
// CHECK-SAME:  [[ARG0:%.*]]: vector<2xi8>, [[ARG1:%.*]]: vector<2xi8>) -> (vector<2xi8>, vector<2xi8>) {
// CHECK-NEXT:    [[CST:%.*]] = arith.constant dense<[true, false]> : vector<2xi1>
// CHECK-NEXT:    [[V0:%.*]] = arith.select [[CST]], [[ARG0]], [[ARG1]] : vector<2xi1>, vector<2xi8>
// CHECK-NEXT:    return [[ARG0]], [[V0]] : vector<2xi8>, vector<2xi8>
// CHECK-NEXT:  }
func.func @vectors(%a: vector<2xi8>, %b: vector<2xi8>) -> (vector<2xi8>, vector<2xi8>) {
  %t = arith.constant dense<true> : vector<2xi1>
  %m = arith.constant dense<[true, false]> : vector<2xi1>
  %0 = arith.select %t, %a, %b : vector<2xi1>, vector<2xi8>
  %1 = arith.select %m, %a, %b : vector<2xi1>, vector<2xi8>
  return %0, %1 : vector<2xi8>, vector<2xi8>
}
