// RUN: gradus opt %s

func.func @shapes(%a: vector<4xf32>, %n: vector<3xi32>) {
  // expected-error@+1 {{'math.fpowi' op requires the same shape for all operands and results}}
  %0 = math.fpowi %a, %n : vector<4xf32>, vector<3xi32>
  return
}

// -----

func.func @scalar_exponent(%a: vector<4xf32>, %n: i32) {
  // expected-error@+1 {{'math.fpowi' op requires the same shape for all operands and results}}
  %0 = math.fpowi %a, %n : vector<4xf32>, i32
  return
}

// -----

func.func @power_type(%a: f32, %n: i32) {
  // expected-error@+1 {{'math.fpowi' op failed to verify that all of {lhs, result} have same type}}
  %0 = "math.fpowi"(%a, %n) : (f32, i32) -> f64
  return
}

// -----

func.func @kind(%a: vector<4xi32>) {
  // expected-error@+1 {{'math.absf' op operand #0 must be floating-point-like, but got 'vector<4xi32>'}}
  %0 = math.absf %a : vector<4xi32>
  return
}

// -----

func.func @one_type(%a: vector<4xf32>) {
  // expected-error@+1 {{'math.absf' op requires the same type for all operands and results}}
  %0 = "math.absf"(%a) : (vector<4xf32>) -> vector<3xf32>
  return
}

// -----

func.func @answer(%a: vector<4xf32>) {
  // expected-error@+1 {{'math.isnan' op failed to verify that result type has i1 element type and same shape as operands}}
  %0 = "math.isnan"(%a) : (vector<4xf32>) -> i1
  return
}

// -----

func.func @bounds(%a: vector<4xf32>, %b: f32) {
  // expected-error@+1 {{'math.clampf' op requires the same type for all operands and results}}
  %0 = "math.clampf"(%a, %a, %b) : (vector<4xf32>, vector<4xf32>, f32) -> vector<4xf32>
  return
}

// -----

func.func @two_results(%a: f32) {
  // expected-error@+1 {{'math.sincos' op failed to verify that all of {operand, sin, cos} have same type}}
  %0:2 = "math.sincos"(%a) : (f32) -> (f32, f64)
  return
}
