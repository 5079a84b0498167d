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

func.func @unknown() {
  // expected-error@+1 {{'cf.br' op has no property 'speed'}}
  "cf.br"()[^bb1] <{speed = 9 : i64}> : () -> ()
^bb1:
  return
}

// -----

func.func @word(%a: i32) {
  // expected-error@+1 {{expected one of: none, nsw, nuw}}
  %0 = "arith.subi"(%a, %a) <{overflowFlags = #arith.overflow<maybe>}> : (i32, i32) -> i32
  return
}
