// RUN: gradus opt %s --allow-unregistered-dialect --split-input-file --verify-diagnostics

// Inherent attributes: presence and constraints.
func.func @missing() {
  // expected-error@+1 {{requires attribute 'value'}}
  %0 = "arith.constant"() : () -> i32
  return
}

// -----

func.func @kind(%a: i32) {
  // expected-error@+1 {{attribute 'predicate' failed to satisfy constraint}}
  %0 = "arith.cmpi"(%a, %a) <{predicate = 10 : i64}> : (i32, i32) -> i1
  return
}

// -----

func.func @unknown(%a: i32) {
  // expected-error@+1 {{'arith.subi' op has no property 'speed'}}
  %0 = "arith.subi"(%a, %a) <{speed = 9 : i64, overflowFlags = #arith.overflow<none>}> : (i32, i32) -> i32
  return
}

// -----

func.func @word(%a: i32) {
  // expected-error@+1 {{overflow}}
  %0 = "arith.subi"(%a, %a) <{overflowFlags = #arith.overflow<maybe>}> : (i32, i32) -> i32
  return
}
