// RUN: gradus opt %s

func.func @f(%s: f32, %z0: vector<f32>) {
  // expected-error@+1 {{operand #0 must be vector of any type values, but got 'vector<f32>'}}
  %a = vector.contract {indexing_maps = [affine_map<()->()>, affine_map<()->()>, affine_map<()->()>], iterator_types = []} %z0, %z0, %s : vector<f32>, vector<f32> into f32
  return
}

// -----

func.func @f(%s: f32, %v4: vector<4xf32>) {
  // expected-error@+1 {{unexpected iterator_type (foo)}}
  %a = vector.contract {indexing_maps = [affine_map<(d0)->(d0)>, affine_map<(d0)->(d0)>, affine_map<(d0)->()>], iterator_types = ["foo"]} %v4, %v4, %s : vector<4xf32>, vector<4xf32> into f32
  return
}

// -----

func.func @f(%s: f32, %v4: vector<4xf32>) {
  // expected-error@+1 {{expected an indexing map for each vector operand}}
  %a = vector.contract {indexing_maps = [affine_map<(d0)->(d0)>, affine_map<(d0)->(d0)>], iterator_types = ["reduction"]} %v4, %v4, %s : vector<4xf32>, vector<4xf32> into f32
  return
}

// -----

func.func @f(%s: f32, %v4: vector<4xf32>) {
  // expected-error@+1 {{expected indexing map 2 to have no symbols}}
  %a = vector.contract {indexing_maps = [affine_map<(d0)->(d0)>, affine_map<(d0)->(d0)>, 3], iterator_types = ["reduction"]} %v4, %v4, %s : vector<4xf32>, vector<4xf32> into f32
  return
}

// -----

func.func @f(%s: f32, %v4: vector<4xf32>) {
  // expected-error@+1 {{expected at least one contracting dimension pair}}
  %a = vector.contract {indexing_maps = [affine_map<(d0)->(d0)>, affine_map<(d0)->(d0)>, affine_map<(d0)->()>], iterator_types = ["parallel"]} %v4, %v4, %s : vector<4xf32>, vector<4xf32> into f32
  return
}

// -----

func.func @f(%s: f32, %v4: vector<4xf32>) {
  // expected-error@+1 {{expected indexing map 2 to have 0 number of outputs}}
  %a = vector.contract {indexing_maps = [affine_map<(d0)->(d0)>, affine_map<(d0)->(d0)>, affine_map<(d0)->(d0)>], iterator_types = ["reduction"]} %v4, %v4, %s : vector<4xf32>, vector<4xf32> into f32
  return
}

// -----

func.func @f(%s: f32, %v4: vector<4xf32>) {
  // expected-error@+1 {{invalid indexing maps are non-invertible: ((d0, d1) -> (d0, d0))}}
  %a = vector.contract {indexing_maps = [affine_map<(d0,d1)->(d0)>, affine_map<(d0,d1)->(d0)>, affine_map<(d0,d1)->()>], iterator_types = ["reduction","reduction"]} %v4, %v4, %s : vector<4xf32>, vector<4xf32> into f32
  return
}

// -----

func.func @f(%s: f32, %v4: vector<4xf32>) {
  // expected-error@+1 {{unsupported contraction type}}
  %a = vector.contract {indexing_maps = [affine_map<(d0)->(d0)>, affine_map<(d0)->(d0)>, affine_map<(d0)->()>], iterator_types = ["reduction"], kind = #vector.kind<xor>} %v4, %v4, %s : vector<4xf32>, vector<4xf32> into f32
  return
}

// -----

func.func @f(%s: f32, %v4: vector<4xf32>) {
  // expected-error@+1 {{expected "iterator_types" array attribute}}
  %a = vector.contract {indexing_maps = [affine_map<(d0)->(d0)>, affine_map<(d0)->(d0)>, affine_map<(d0)->()>]} %v4, %v4, %s : vector<4xf32>, vector<4xf32> into f32
  return
}

// -----

func.func @f(%s: f32, %v4: vector<4xf32>) {
  // expected-error@+1 {{expected indexing map 1 to have 1 number of outputs}}
  %a = vector.contract {indexing_maps = [affine_map<(d0)->(d0)>, affine_map<(d0)->(d0, d0)>, affine_map<(d0)->()>], iterator_types = ["reduction"]} %v4, %v4, %s : vector<4xf32>, vector<4xf32> into f32
  return
}

// -----

func.func @f(%s: f32, %v4: vector<4xf32>) {
  // expected-error@+1 {{expected indexing map 0 to have 2 number of inputs}}
  %a = vector.contract {indexing_maps = [affine_map<(d0)->(d0)>, affine_map<(d0)->(d0)>, affine_map<(d0)->()>], iterator_types = ["reduction", "reduction"]} %v4, %v4, %s : vector<4xf32>, vector<4xf32> into f32
  return
}

// -----

func.func @f(%s: f32, %v4: vector<4xf32>) {
  // expected-error@+1 {{expected indexing map 1 to be a projected permutation of its inputs}}
  %a = vector.contract {indexing_maps = [affine_map<(d0)->(d0)>, affine_map<(d0)->(d0 + 1)>, affine_map<(d0)->()>], iterator_types = ["reduction"]} %v4, %v4, %s : vector<4xf32>, vector<4xf32> into f32
  return
}

// -----

func.func @f(%v4: vector<4xf32>) {
  // expected-error@+1 {{expected at least one contracting dimension pair}}
  %a = vector.contract {indexing_maps = [affine_map<(d0,d1)->(d0)>, affine_map<(d0,d1)->(d1)>, affine_map<(d0,d1)->(d0)>], iterator_types = ["parallel","reduction"]} %v4, %v4, %v4 : vector<4xf32>, vector<4xf32> into vector<4xf32>
  return
}

// -----

func.func @f(%v4: vector<4xf32>) {
  // expected-error@+1 {{invalid accumulator/result vector shape}}
  %a = vector.contract {indexing_maps = [affine_map<(d0,d1)->(d0)>, affine_map<(d0,d1)->(d0)>, affine_map<(d0,d1)->(d1)>], iterator_types = ["reduction","parallel"]} %v4, %v4, %v4 : vector<4xf32>, vector<4xf32> into vector<4xf32>
  return
}

// -----

func.func @f(%v4: vector<4xf32>) {
  // expected-error@+1 {{expected at least one contracting dimension pair}}
  %a = vector.contract {indexing_maps = [affine_map<(d0)->(d0)>, affine_map<(d0)->(d0)>, affine_map<(d0)->(d0)>], iterator_types = ["parallel"]} %v4, %v4, %v4 : vector<4xf32>, vector<4xf32> into vector<4xf32>
  return
}

// -----

func.func @f(%v2: vector<2xf32>, %v24: vector<2x4xf32>) {
  // expected-error@+1 {{expected 1-d vector for operand #1}}
  %a = vector.outerproduct %v24, %v2 : vector<2x4xf32>, vector<2xf32>
  return
}

// -----

func.func @f(%v4: vector<4xf32>, %v24: vector<2x4xf32>) {
  // expected-error@+1 {{expected 1-d vector for operand #2}}
  %a = vector.outerproduct %v4, %v24 : vector<4xf32>, vector<2x4xf32>
  return
}

// -----

func.func @f(%s: f32, %v4: vector<4xf32>) {
  // expected-error@+1 {{unsupported outerproduct type}}
  %a = vector.outerproduct %v4, %s {kind = #vector.kind<xor>} : vector<4xf32>, f32
  return
}

// -----

func.func @f(%s: f32, %v4: vector<4xf32>) {
  // expected-error@+1 {{expected 1-d vector result}}
  %a = "vector.outerproduct"(%v4, %s) : (vector<4xf32>, f32) -> vector<2x4xf32>
  return
}

// -----

func.func @f(%s: f32, %v4: vector<4xf32>) {
  // expected-error@+1 {{expected #1 operand dim to match result dim #1}}
  %a = "vector.outerproduct"(%v4, %s) : (vector<4xf32>, f32) -> vector<3xf32>
  return
}

// -----

func.func @f(%v4: vector<4xf32>) {
  // expected-error@+1 {{expected 2-d vector result}}
  %a = "vector.outerproduct"(%v4, %v4) : (vector<4xf32>, vector<4xf32>) -> vector<4xf32>
  return
}

// -----

func.func @f(%v4: vector<4xf32>) {
  // expected-error@+1 {{expected #1 operand dim to match result dim #1}}
  %a = "vector.outerproduct"(%v4, %v4) : (vector<4xf32>, vector<4xf32>) -> vector<3x4xf32>
  return
}

// -----

func.func @f(%v4: vector<4xf32>, %sc: vector<[4]xf32>) {
  // expected-error@+1 {{expected either both or only #2 operand dim to be scalable}}
  %a = "vector.outerproduct"(%sc, %v4) : (vector<[4]xf32>, vector<4xf32>) -> vector<[4]x4xf32>
  return
}

// -----

func.func @f(%v4: vector<4xf32>, %sc: vector<[4]xf32>) {
  // expected-error@+1 {{expected either both or only #2 operand dim to be scalable}}
  %a = "vector.outerproduct"(%sc, %v4) : (vector<[4]xf32>, vector<4xf32>) -> vector<4x4xf32>
  return
}

// -----

func.func @f(%v4: vector<4xf32>) {
  // expected-error@+1 {{expected at least 2 operands}}
  %a = vector.outerproduct %v4 : vector<4xf32>, f32
  return
}

// -----

func.func @f(%s: f32, %v4: vector<4xf32>) {
  // expected-error@+1 {{expected ','}}
  %a = vector.outerproduct %v4, %s : vector<4xf32>
  return
}

// -----

func.func @f(%s: f32, %v4: vector<4xf32>) {
  // expected-error@+1 {{expected vector type for operand #1}}
  %a = vector.outerproduct %s, %v4 : f32, vector<4xf32>
  return
}

// -----

func.func @f(%vi: vector<4xi32>) {
  // expected-error@+1 {{operand #0 must be vector of floating-point values, but got 'vector<4xi32>'}}
  %a = vector.fma %vi, %vi, %vi : vector<4xi32>
  return
}

// -----

func.func @f(%v4: vector<4xf32>, %v2: vector<2xf32>) {
  // expected-error@+1 {{expected #2 operand dim to match result dim #2}}
  "vector.outerproduct"(%v4, %v2) : (vector<4xf32>, vector<2xf32>) -> vector<4x4xf32>
  return
}

// -----

func.func @f(%v4: vector<4xf32>, %v2: vector<2xf32>) {
  // expected-error@+1 {{expected operand #3 of same type as result type}}
  "vector.outerproduct"(%v4, %v2, %v4) : (vector<4xf32>, vector<2xf32>, vector<4xf32>) -> vector<4x2xf32>
  return
}

// -----

func.func @f(%v4: vector<4xf32>, %vi: vector<4xi32>) {
  // expected-error@+1 {{failed to verify that rhs operand and result have same element type}}
  "vector.outerproduct"(%v4, %vi) : (vector<4xf32>, vector<4xi32>) -> vector<4x4xf32>
  return
}

// -----

func.func @f(%s: f32, %v4: vector<4xf32>) {
  // expected-error@+1 {{expected indexing map 0 to have no symbols}}
  %a = vector.contract {indexing_maps = [affine_map<(d0)[s0]->(d0)>, affine_map<(d0)->(d0)>, affine_map<(d0)->()>], iterator_types = ["reduction"]} %v4, %v4, %s : vector<4xf32>, vector<4xf32> into f32
  return
}

// -----

func.func @f(%s: f32, %v4: vector<4xf32>, %v2: vector<2xf32>) {
  // expected-error@+1 {{invalid contracting dimension map}}
  %a = vector.contract {indexing_maps = [affine_map<(d0)->(d0)>, affine_map<(d0)->(d0)>, affine_map<(d0)->()>], iterator_types = ["reduction"]} %v4, %v2, %s : vector<4xf32>, vector<2xf32> into f32
  return
}

// -----

func.func @f(%v4: vector<4xf32>, %s: f32) {
  // expected-error@+1 {{expected result dims to be scalable where the operand dims are}}
  %a = "vector.outerproduct"(%v4, %s) : (vector<4xf32>, f32) -> vector<[4]xf32>
  return
}
