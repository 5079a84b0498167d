// RUN: gradus opt %s --cse --allow-unregistered-dialect | FileCheck %s
// NOTE: 'gradus update-checks' writes the directives in this file

// Regions of unregistered ops may be graph regions, without an order of ops: nothing is merged in them.
// CHECK-LABEL: func.func @scopes(
// CHECK-SAME:  [[ARG0:%.*]]: i32) {
// CHECK-NEXT:    [[V0:%.*]] = arith.addi [[ARG0]], [[ARG0]] : i32
// CHECK-NEXT:    "t.region"() ({
// CHECK-NEXT:      [[V1:%.*]] = arith.addi [[ARG0]], [[ARG0]] : i32
// CHECK-NEXT:      [[V2:%.*]] = arith.muli [[ARG0]], [[ARG0]] : i32
// CHECK-NEXT:      "t.use"([[V1]], [[V2]]) : (i32, i32) -> ()
// CHECK-NEXT:    }, {
// CHECK-NEXT:      [[V1:%.*]] = arith.muli [[ARG0]], [[ARG0]] : i32
// CHECK-NEXT:      "t.use"([[V1]], [[V0]]) : (i32, i32) -> ()
// CHECK-NEXT:    }) : () -> ()
// CHECK-NEXT:    return
// CHECK-NEXT:  }
func.func @scopes(%a: i32) {
  %0 = arith.addi %a, %a : i32
  "t.region"() ({
    %1 = arith.addi %a, %a : i32
    %2 = arith.muli %a, %a : i32
    "t.use"(%1, %2) : (i32, i32) -> ()
  }, {
    %2 = arith.muli %a, %a : i32
    "t.use"(%2, %0) : (i32, i32) -> ()
  }) : () -> ()
  return
}
// CHECK-LABEL: func.func @isolated() {
// CHECK-NEXT:    [[C1_I32:%.*]] = arith.constant 1 : i32
// CHECK-NEXT:    "t.use"([[C1_I32]]) : (i32) -> ()
// CHECK-NEXT:    builtin.module {
func.func @isolated() {
  %0 = arith.constant 1 : i32
  "t.use"(%0) : (i32) -> ()
  builtin.module {
// CHECK-LABEL:     func.func @inner() -> i32 {
// CHECK-NEXT:        [[C1_I32_0:%.*]] = arith.constant 1 : i32
// CHECK-NEXT:        return [[C1_I32_0]] : i32
// CHECK-NEXT:      }
// CHECK-NEXT:    }
// CHECK-NEXT:    return
// CHECK-NEXT:  }
    func.func @inner() -> i32 {
      %1 = arith.constant 1 : i32
      return %1 : i32
    }
  }
  return
}
