// RUN: gradus opt %s

func.func @f(%v4: vector<4xf32>) {
  // expected-error@+1 {{unsupported reduction type ''f32'' for kind 'xor'}}
  %a = vector.reduction <xor>, %v4 : vector<4xf32> into f32
  return
}

// -----

func.func @f(%v24: vector<2x4xf32>) {
  // expected-error@+1 {{unsupported reduction rank: 2}}
  %a = vector.reduction <add>, %v24 : vector<2x4xf32> into f32
  return
}

// -----

func.func @f(%vi: vector<4xi32>) {
  // expected-error@+1 {{unsupported reduction type ''i32'' for kind 'minnumf'}}
  %a = vector.reduction <minnumf>, %vi : vector<4xi32> into i32
  return
}

// -----

func.func @f(%s: f32, %v24: vector<2x4xf32>) {
  // expected-error@+1 {{destination type 'f32' is incompatible with source type 'vector<2x4xf32>'}}
  %a = vector.multi_reduction <add>, %v24, %s [0] : vector<2x4xf32> to f32
  return
}

// -----

func.func @f(%v4: vector<4xf32>, %v24: vector<2x4xf32>) {
  // expected-error@+1 {{incompatible input/initial value shapes}}
  %a:2 = vector.scan <add>, %v24, %v4 {inclusive = true, reduction_dim = -1} : vector<2x4xf32>, vector<4xf32>
  return
}

// -----

func.func @f(%v2: vector<2xf32>, %v24: vector<2x4xf32>) {
  // expected-error@+1 {{incompatible input/initial value shapes}}
  %a:2 = vector.scan <add>, %v24, %v2 {inclusive = true, reduction_dim = 0} : vector<2x4xf32>, vector<2xf32>
  return
}

// -----

func.func @f(%v24: vector<2x4xf32>) {
  // expected-error@+1 {{initial value rank 2 has to be equal to 1}}
  %a:2 = vector.scan <add>, %v24, %v24 {inclusive = true, reduction_dim = 0} : vector<2x4xf32>, vector<2x4xf32>
  return
}

// -----

func.func @f(%v4: vector<4xf32>) {
  // expected-error@+1 {{initial value rank 1 has to be equal to 0}}
  %a:2 = vector.scan <add>, %v4, %v4 {inclusive = true, reduction_dim = 0} : vector<4xf32>, vector<4xf32>
  return
}

// -----

func.func @f(%v4: vector<4xf32>) {
  // expected-error@+1 {{expected one of: add, mul, minui, minsi, minnumf, maxui, maxsi, maxnumf, and, or, xor, maximumf, minimumf}}
  %a = vector.reduction <foo>, %v4 : vector<4xf32> into f32
  return
}

// -----

func.func @f(%v4: vector<4xf32>) {
  // expected-error@+1 {{expected '<'}}
  %a = vector.reduction 12, %v4 : vector<4xf32> into f32
  return
}

// -----

func.func @f(%i: index, %v4: vector<4xf32>) {
  // expected-error@+1 {{failed to verify that dest and acc have the same type}}
  "vector.reduction"(%v4, %i) <{kind = #vector.kind<add>}> : (vector<4xf32>, index) -> f32
  return
}

// -----

func.func @f(%v4: vector<4xf32>) {
  // expected-error@+1 {{failed to verify that source operand and result have same element type}}
  "vector.reduction"(%v4) <{kind = #vector.kind<add>}> : (vector<4xf32>) -> i32
  return
}

// -----

func.func @f(%v2: vector<2xf32>, %v24: vector<2x4xf32>) {
  // expected-error@+1 {{failed to verify that all of {dest, acc} have same type}}
  "vector.multi_reduction"(%v24, %v2) <{kind = #vector.kind<add>, reduction_dims = array<i64: 0>}> : (vector<2x4xf32>, vector<2xf32>) -> vector<4xf32>
  return
}

// -----

func.func @f(%v4: vector<4xf32>, %v24: vector<2x4xf32>) {
  // expected-error@+1 {{unsupported reduction type 'f32' for kind 'xor'}}
  %a:2 = vector.scan <xor>, %v24, %v4 {inclusive = true, reduction_dim = 0} : vector<2x4xf32>, vector<4xf32>
  return
}

// -----

func.func @f(%v4: vector<4xf32>, %v24: vector<2x4xf32>) {
  // expected-error@+1 {{reduction dimension 5 has to be less than 2}}
  %a:2 = vector.scan <add>, %v24, %v4 {inclusive = true, reduction_dim = 5} : vector<2x4xf32>, vector<4xf32>
  return
}
