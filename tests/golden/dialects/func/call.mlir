// RUN: gradus opt %s --canonicalize | FileCheck %s
// NOTE: 'gradus update-checks' writes the directives in this file

// CHECK-LABEL: func.func private @callee(i32, f32) -> (f32, i32)
func.func private @callee(i32, f32) -> (f32, i32)
// CHECK-LABEL: func.func private @nothing()
func.func private @nothing()
// CHECK-LABEL: func.func @direct(
// CHECK-SAME:  [[ARG0:%.*]]: i32, [[ARG1:%.*]]: f32) -> f32 {
// CHECK-NEXT:    [[V0:%.*]]:2 = call @callee([[ARG0]], [[ARG1]]) : (i32, f32) -> (f32, i32)
// CHECK-NEXT:    call @nothing() {x.hint = "cold"} : () -> ()
// CHECK-NEXT:    return [[V0]]#0 : f32
// CHECK-NEXT:  }
func.func @direct(%a: i32, %b: f32) -> f32 {
  %0:2 = call @callee(%a, %b) : (i32, f32) -> (f32, i32)
  func.call @nothing() {x.hint = "cold"} : () -> ()
  return %0#0 : f32
}
// CHECK-LABEL: func.func @indirect(
// CHECK-SAME:  [[ARG0:%.*]]: i32, [[ARG1:%.*]]: f32) -> f32 {
// CHECK-NEXT:    [[V0:%.*]]:2 = call @callee([[ARG0]], [[ARG1]]) : (i32, f32) -> (f32, i32)
// CHECK-NEXT:    return [[V0]]#0 : f32
// CHECK-NEXT:  }
func.func @indirect(%a: i32, %b: f32) -> f32 {
  %f = constant @callee : (i32, f32) -> (f32, i32)
  %0:2 = call_indirect %f(%a, %b) : (i32, f32) -> (f32, i32)
  return %0#0 : f32
}
