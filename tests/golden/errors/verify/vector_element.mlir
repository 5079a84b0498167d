// RUN: gradus opt %s

func.func @f(%i: index, %v4: vector<4xf32>) {
  // expected-error@+1 {{expected a scalar instead of a 0-d vector as the result type}}
  %a = vector.extract %v4[%i] : vector<f32> from vector<4xf32>
  return
}

// -----

func.func @f(%v4: vector<4xf32>) {
  // expected-error@+1 {{expected position attribute #1 to be a non-negative integer smaller than the corresponding vector dimension or poison (-1)}}
  %a = vector.extract %v4[5] : f32 from vector<4xf32>
  return
}

// -----

func.func @f(%v24: vector<2x4xf32>) {
  // expected-error@+1 {{inferred type(s) 'vector<4xf32>' are incompatible with return type(s) of operation 'vector<3xf32>'}}
  %a = vector.extract %v24[1] : vector<3xf32> from vector<2x4xf32>
  return
}

// -----

func.func @f(%v4: vector<4xf32>) {
  // expected-error@+1 {{expected position attribute #1 to be a non-negative integer smaller than the corresponding vector dimension or poison (-1)}}
  %a = vector.extract %v4[-2] : f32 from vector<4xf32>
  return
}

// -----

func.func @f(%v4: vector<4xf32>, %v24: vector<2x4xf32>) {
  // expected-error@+1 {{expected position attribute rank + source rank to match dest vector rank}}
  %a = vector.insert %v4, %v24[0, 0] : vector<4xf32> into vector<2x4xf32>
  return
}

// -----

func.func @f(%v4: vector<4xf32>, %v24: vector<2x4xf32>) {
  // expected-error@+1 {{expected position attribute rank + source rank to match dest vector rank}}
  %a = vector.insert %v24, %v4[0] : vector<2x4xf32> into vector<4xf32>
  return
}

// -----

func.func @f(%v4: vector<4xf32>, %v24: vector<2x4xf32>) {
  // expected-error@+1 {{expected position attribute #1 to be a non-negative integer smaller than the corresponding dest vector dimension}}
  %a = vector.insert %v4, %v24[2] : vector<4xf32> into vector<2x4xf32>
  return
}

// -----

func.func @f(%s: f32, %v24: vector<2x4xf32>) {
  // expected-error@+1 {{expected position attribute rank to match the dest vector rank}}
  %a = vector.insert %s, %v24[1] : f32 into vector<2x4xf32>
  return
}

// -----

func.func @f(%s: f32, %v4: vector<4xf32>) {
  // expected-error@+1 {{mismatch between dynamic and static positions (kDynamic marker but no corresponding dynamic position) -- this can only happen due to an incorrect fold/rewrite}}
  %a = "vector.insert"(%s, %v4) <{static_position = array<i64: -9223372036854775808>}> : (f32, vector<4xf32>) -> vector<4xf32>
  return
}

// -----

func.func @f(%v4: vector<4xf32>) {
  // expected-error@+1 {{mismatch between dynamic and static positions (kDynamic marker but no corresponding dynamic position) -- this can only happen due to an incorrect fold/rewrite}}
  %a = "vector.extract"(%v4) <{static_position = array<i64: -9223372036854775808>}> : (vector<4xf32>) -> f32
  return
}

// -----

func.func @f(%v24: vector<2x4xf32>) {
  // expected-error@+1 {{expected position attribute of rank no greater than vector rank}}
  %a = vector.extract %v24[0, 0, 0] : f32 from vector<2x4xf32>
  return
}
