// RUN: gradus opt %s --split-input-file --verify-diagnostics

// The first op of an unknown dialect says how to read such ops.
// expected-error@+2 {{unregistered operation 't.x'}}
// expected-note@+1 {{dialect 't' is not registered; its ops are read with --allow-unregistered-dialect}}
"t.x"() : () -> ()
// expected-error@+1 {{unregistered operation 't.y'}}
"t.y"() : () -> ()

// -----

func.func @custom_form(%a: tensor<2x2xf32>) {
  // expected-error@+2 {{unregistered operation 'linalg.matmul'}}
  // expected-note@+1 {{dialect 'linalg' is not registered, so its custom forms are unknown; the generic form, as mlir-opt --mlir-print-op-generic prints it, is read with --allow-unregistered-dialect}}
  %0 = linalg.matmul ins(%a, %a : tensor<2x2xf32>, tensor<2x2xf32>) outs(%a : tensor<2x2xf32>) -> tensor<2x2xf32>
  return
}

// -----

func.func @dialect(%a: i32) {
  // expected-error@+2 {{unregistered operation 'airth.addi'}}
  // expected-note@+1 {{did you mean 'arith.addi'?}}
  %0 = airth.addi %a, %a : i32
  return
}

// -----

func.func @no_dialect() {
  // expected-error@+2 {{unregistered operation 'retrun'}}
  // expected-note@+1 {{did you mean 'func.return'?}}
  retrun
}

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
