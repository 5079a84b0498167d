// RUN: gradus opt %s --split-input-file --verify-diagnostics

// Verifiers of single ops, and inferred types.
func.func @returns(%a: i32) -> f32 {
  // expected-error@+1 {{type of return operand 0 ('i32') doesn't match function result type ('f32')}}
  return %a : i32
}

// -----

func.func @returns(%a: i32) -> i32 {
  // expected-error@+1 {{has 0 operands, but enclosing function (@returns) returns 1}}
  return
}

// -----

func.func private @callee(i32)
func.func @calls(%a: i8) {
  // expected-error@+1 {{operand type mismatch: expected operand type 'i32', but provided 'i8' for operand number 0}}
  call @callee(%a) : (i8) -> ()
  return
}

// -----

func.func @calls() {
  // expected-error@+1 {{'nobody' does not reference a valid function}}
  call @nobody() : () -> ()
  return
}

// -----

func.func @cast(%a: i32) {
  // expected-error@+1 {{result type 'i8' must be wider than operand type 'i32'}}
  %0 = arith.extsi %a : i32 to i8
  return
}

// -----

func.func @cast(%a: i32) {
  // expected-error@+1 {{are cast incompatible}}
  %0 = arith.bitcast %a : i32 to f64
  return
}

// -----

func.func @select(%c: vector<2xi1>, %a: f32) {
  // expected-error@+1 {{expected condition type to have the same shape as the result type}}
  %0 = "arith.select"(%c, %a, %a) : (vector<2xi1>, f32, f32) -> f32
  return
}

// -----

func.func @inferred(%a: vector<2xi32>) {
  // expected-error@+1 {{inferred type 'vector<2xi1>' is incompatible with the result's type 'vector<3xi1>'}}
  %0 = "arith.cmpi"(%a, %a) <{predicate = 0 : i64}> : (vector<2xi32>, vector<2xi32>) -> vector<3xi1>
  return
}
