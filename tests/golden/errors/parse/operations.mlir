// RUN: gradus opt %s --split-input-file --verify-diagnostics

// expected-error@+1 {{unregistered operation 't.x'}}
"t.x"() : () -> ()

// -----

func.func @f(%a: i32) {
  // expected-error@+1 {{dialect 'arith' has no operation 'arith.adi'}}
  %0 = arith.adi %a, %a : i32
  return
}

// -----

func.func @f(%a: i32) -> i32 {
  // expected-error@+1 {{expected ','}}
  %0 = arith.addi %a : i32
  return %0 : i32
}

// -----

func.func @f(%a: i32) {
  // expected-error@+1 {{operation defines 1 results but was provided 2 to bind}}
  %0:2 = arith.addi %a, %a : i32
  return
}

// -----

func.func @f() {
  // expected-error@+1 {{cannot name an operation with no results}}
  %0 = func.return
}

// -----

func.func @f(%a: i32, %b: f32) -> i32 {
  // expected-error@+1 {{must be signless-integer-like}}
  %0 = arith.addi %b, %b : f32
  return %a : i32
}

// -----

func.func @f(%a: i32, %b: i32) -> i1 {
  // expected-error@+1 {{for attribute 'predicate' [eq, ne, slt, sle, sgt, sge, ult, ule, ugt, uge]}}
  %0 = arith.cmpi lt, %a, %b : i32
  return %0 : i1
}
