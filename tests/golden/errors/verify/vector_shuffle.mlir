// RUN: gradus opt %s

func.func @f(%z0: vector<f32>, %v24: vector<2x4xf32>) {
  // expected-error@+1 {{rank mismatch}}
  %a = vector.shuffle %v24, %z0 [0] : vector<2x4xf32>, vector<f32>
  return
}

// -----

func.func @f(%v4: vector<4xf32>) {
  // expected-error@+1 {{mask index #2 out of range}}
  %a = vector.shuffle %v4, %v4 [0,-2] : vector<4xf32>, vector<4xf32>
  return
}

// -----

func.func @f(%v4: vector<4xf32>) {
  // expected-error@+1 {{mask length mismatch}}
  "vector.shuffle"(%v4, %v4) <{mask = array<i64: 0>}> : (vector<4xf32>, vector<4xf32>) -> vector<2xf32>
  return
}

// -----

func.func @f(%v4: vector<4xf32>) {
  // expected-error@+1 {{failed to verify that type of 'result' is double the width of the inputs}}
  %a = vector.interleave %v4, %v4 : vector<4xf32> -> vector<4xf32>
  return
}

// -----

func.func @f(%z0: vector<f32>) {
  // expected-error@+1 {{failed to verify that type of 'result' is double the width of the inputs}}
  %a = vector.interleave %z0, %z0 : vector<f32> -> vector<1xf32>
  return
}

// -----

func.func @f(%v4: vector<4xf32>) {
  // expected-error@+1 {{failed to verify that type of 'result' is double the width of the inputs}}
  %a = vector.interleave %v4, %v4 : vector<4xf32> -> vector<8xi32>
  return
}

// -----

func.func @f(%v4: vector<4xf32>) {
  // expected-error@+1 {{failed to verify that the trailing dimension of the results is half the width of source trailing dimension}}
  %a, %b = vector.deinterleave %v4 : vector<4xf32> -> vector<3xf32>
  return
}

// -----

func.func @f(%v3: vector<3xf32>) {
  // expected-error@+1 {{failed to verify that the trailing dimension of the source vector has an even number of elements}}
  %a, %b = vector.deinterleave %v3 : vector<3xf32> -> vector<1xf32>
  return
}

// -----

func.func @f(%v4: vector<4xf32>) {
  // expected-error@+1 {{failed to verify that the trailing dimension of the results is half the width of source trailing dimension}}
  %a, %b = vector.deinterleave %v4 : vector<4xf32> -> vector<2xi32>
  return
}

// -----

func.func @f(%s: f32) {
  // expected-error@+1 {{failed to verify that shaped type 'dest' matches 'elements' element count and types}}
  %a = vector.from_elements %s, %s, %s : vector<4xf32>
  return
}

// -----

func.func @f() {
  // expected-error@+1 {{result #0 must be vector of index values of ranks 1, but got 'vector<4xi32>'}}
  %a = vector.step : vector<4xi32>
  return
}

// -----

func.func @f() {
  // expected-error@+1 {{result #0 must be vector of index values of ranks 1, but got 'vector<2x4xindex>'}}
  %a = vector.step : vector<2x4xindex>
  return
}

// -----

func.func @f(%s: f32) {
  // expected-error@+1 {{failed to verify that shaped type 'dest' matches 'elements' element count and types}}
  %a = "vector.from_elements"(%s, %s) : (f32, f32) -> vector<3xf32>
  return
}

// -----

func.func @f(%v4: vector<4xf32>) {
  // expected-error@+1 {{failed to verify that shaped type 'source' matches 'elements' element count and types}}
  %a:2 = "vector.to_elements"(%v4) : (vector<4xf32>) -> (f32, f32)
  return
}
