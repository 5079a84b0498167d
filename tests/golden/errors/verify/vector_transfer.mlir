// RUN: gradus opt %s

func.func @f(%i: index, %s: f32, %m44: memref<4x4xf32>) {
  // expected-error@+1 {{expects the in_bounds attr of same rank as permutation_map results: affine_map<(d0, d1) -> (d0, d1)> vs inBounds of size: 1}}
  %a = vector.transfer_read %m44[%i,%i], %s {in_bounds = [true]} : memref<4x4xf32>, vector<4x4xf32>
  return
}

// -----

func.func @f(%i: index, %s: f32, %m44: memref<4x4xf32>) {
  // expected-error@+1 {{attribute 'in_bounds' failed to satisfy constraint: 1-bit boolean array attribute}}
  %a = vector.transfer_read %m44[%i,%i], %s {in_bounds = [1, 2]} : memref<4x4xf32>, vector<4x4xf32>
  return
}

// -----

func.func @f(%i: index, %s: f32, %m44: memref<4x4xf32>) {
  // expected-error@+1 {{expected a custom permutation_map when rank(source) != rank(destination)}}
  %a = vector.transfer_read %m44[%i,%i], %s : memref<4x4xf32>, vector<4x4x4xf32>
  return
}

// -----

func.func @f(%i: index, %s: f32, %m44: memref<4x4xf32>) {
  // expected-error@+1 {{requires two types}}
  %a = vector.transfer_read %m44[%i,%i], %s : memref<4x4xf32>
  return
}

// -----

func.func @f(%i: index, %s: f32, %m44: memref<4x4xf32>) {
  // expected-error@+1 {{requires vector type}}
  %a = vector.transfer_read %m44[%i,%i], %s : memref<4x4xf32>, f32
  return
}

// -----

func.func @f(%i: index, %s: f32, %v4: vector<4xf32>) {
  // expected-error@+1 {{requires memref or ranked tensor type}}
  %a = vector.transfer_read %v4[%i], %s : vector<4xf32>, vector<4xf32>
  return
}

// -----

func.func @f(%i: index, %s: f32, %m44: memref<4x4xf32>) {
  // expected-error@+1 {{requires a permutation_map with input dims of the same rank as the source type}}
  %a = vector.transfer_read %m44[%i,%i], %s {permutation_map = affine_map<(d0)->(d0)>} : memref<4x4xf32>, vector<4xf32>
  return
}

// -----

func.func @f(%i: index, %s: f32, %m44: memref<4x4xf32>) {
  // expected-error@+1 {{requires permutation_map without symbols}}
  %a = vector.transfer_read %m44[%i,%i], %s {permutation_map = affine_map<(d0,d1)[s0]->(d0)>} : memref<4x4xf32>, vector<4xf32>
  return
}

// -----

func.func @f(%i: index, %s: f32, %m44: memref<4x4xf32>) {
  // expected-error@+1 {{requires a projected permutation_map (at most one dim or the zero constant can appear in each result)}}
  %a = vector.transfer_read %m44[%i,%i], %s {permutation_map = affine_map<(d0,d1)->(d0+1)>} : memref<4x4xf32>, vector<4xf32>
  return
}

// -----

func.func @f(%i: index, %s: f32, %m44: memref<4x4xf32>) {
  // expected-error@+1 {{requires a projected permutation_map (at most one dim or the zero constant can appear in each result)}}
  %a = vector.transfer_read %m44[%i,%i], %s {permutation_map = affine_map<(d0,d1)->(1)>} : memref<4x4xf32>, vector<4xf32>
  return
}

// -----

func.func @f(%i: index, %s: f32, %m44: memref<4x4xf32>) {
  // expected-error@+1 {{requires a permutation_map with result dims of the same rank as the vector type}}
  %a = vector.transfer_read %m44[%i,%i], %s {permutation_map = affine_map<(d0,d1)->(d0, d1)>} : memref<4x4xf32>, vector<4xf32>
  return
}

// -----

func.func @f(%i: index, %v4: vector<4xf32>, %mv: memref<?xvector<4xf32>>) {
  // expected-error@+1 {{requires the bitwidth of the minor 1-D vector to be an integral multiple of the bitwidth of the minor 1-D vector of the source}}
  %a = vector.transfer_read %mv[%i], %v4 : memref<?xvector<4xf32>>, vector<1x3xf32>
  return
}

// -----

func.func @f(%i: index, %v4: vector<4xf32>, %k: vector<4xi1>, %mv: memref<?xvector<4xf32>>) {
  // expected-error@+1 {{does not support masks with vector element type}}
  %a = vector.transfer_read %mv[%i], %v4, %k : memref<?xvector<4xf32>>, vector<1x4xf32>
  return
}

// -----

func.func @f(%i: index, %v4: vector<4xf32>, %mv: memref<?xvector<4xf32>>) {
  // expected-error@+1 {{expects the in_bounds attr of same rank as permutation_map results: affine_map<(d0) -> (d0)> vs inBounds of size: 2}}
  %a = vector.transfer_read %mv[%i], %v4 {in_bounds = [true, true]} : memref<?xvector<4xf32>>, vector<1x4xf32>
  return
}

// -----

func.func @f(%i: index, %v4: vector<4xf32>, %mv: memref<?xvector<4xf32>>) {
  // expected-error@+1 {{requires a permutation_map with result dims of the same rank as the vector type}}
  %a = vector.transfer_read %mv[%i], %v4 {permutation_map = affine_map<(d0)->(d0,0,0)>, in_bounds = [true, true]} : memref<?xvector<4xf32>>, vector<1x1x4xf32>
  return
}

// -----

func.func @f(%i: index, %v4: vector<4xf32>, %m44: memref<4x4xf32>) {
  // expected-error@+1 {{expects the in_bounds attr of same rank as permutation_map results: affine_map<(d0, d1) -> (d1)> vs inBounds of size: 2}}
  vector.transfer_write %v4, %m44[%i,%i] {in_bounds = [true, true]} : vector<4xf32>, memref<4x4xf32>
  return
}

// -----

func.func @f(%i: index, %v4: vector<4xf32>, %m44: memref<4x4xf32>) {
  // expected-error@+1 {{should not have broadcast dimensions}}
  vector.transfer_write %v4, %m44[%i,%i] {permutation_map = affine_map<(d0,d1)->(0)>} : vector<4xf32>, memref<4x4xf32>
  return
}

// -----

func.func @f(%i: index, %v4: vector<4xf32>, %m44: memref<4x4xf32>) {
  // expected-error@+1 {{should not have broadcast dimensions}}
  vector.transfer_write %v4, %m44[%i,%i] {permutation_map = affine_map<(d0,d1)->(0)>, in_bounds = [true]} : vector<4xf32>, memref<4x4xf32>
  return
}

// -----

func.func @f(%i: index, %v24: vector<2x4xf32>, %m44: memref<4x4xf32>) {
  // expected-error@+1 {{requires a permutation_map that is a permutation (found one dim used more than once)}}
  vector.transfer_write %v24, %m44[%i,%i] {permutation_map = affine_map<(d0,d1)->(d0,d0)>} : vector<2x4xf32>, memref<4x4xf32>
  return
}

// -----

func.func @f(%i: index, %v4: vector<4xf32>, %m44: memref<4x4xf32>) {
  // expected-error@+1 {{requires a permutation_map with result dims of the same rank as the vector type}}
  vector.transfer_write %v4, %m44[%i,%i] {permutation_map = affine_map<(d0,d1)->(d0,d1)>} : vector<4xf32>, memref<4x4xf32>
  return
}

// -----

func.func @f(%i: index, %s: f32, %m44: memref<4x4xf32>) {
  // expected-error@+1 {{requires vector type}}
  vector.transfer_write %s, %m44[%i,%i] : f32, memref<4x4xf32>
  return
}

// -----

func.func @f(%i: index, %v4: vector<4xf32>) {
  // expected-error@+1 {{requires memref or ranked tensor type}}
  vector.transfer_write %v4, %v4[%i] : vector<4xf32>, vector<4xf32>
  return
}

// -----

func.func @f(%i: index, %v4: vector<4xf32>, %m44: memref<4x4xf32>) {
  // expected-error@+1 {{requires two types}}
  vector.transfer_write %v4, %m44[%i,%i] : vector<4xf32>
  return
}

// -----

func.func @f(%m: memref<?xf32>, %i: index, %v4: vector<4xf32>) {
  // expected-error@+1 {{requires attribute 'permutation_map'}}
  "vector.transfer_write"(%v4, %m, %i) <{in_bounds = [false], operandSegmentSizes = array<i32: 1, 1, 1, 0>}> : (vector<4xf32>, memref<?xf32>, index) -> ()
  return
}

// -----

func.func @f(%m: memref<?xf32>, %i: index, %v4: vector<4xf32>) {
  // expected-error@+1 {{requires attribute 'in_bounds'}}
  "vector.transfer_write"(%v4, %m, %i) <{permutation_map = affine_map<(d0)->(d0)>, operandSegmentSizes = array<i32: 1, 1, 1, 0>}> : (vector<4xf32>, memref<?xf32>, index) -> ()
  return
}

// -----

func.func @f(%m: memref<?xf32>, %i: index, %s: f32, %k2: vector<2x4xi1>) {
  // expected-error@+1 {{inferred mask type ('vector<4xi1>') and mask operand type ('vector<2x4xi1>') don't match}}
  "vector.transfer_read"(%m, %i, %s, %k2) <{in_bounds = [false], permutation_map = affine_map<(d0)->(d0)>, operandSegmentSizes = array<i32: 1, 1, 1, 1>}> : (memref<?xf32>, index, f32, vector<2x4xi1>) -> vector<4xf32>
  return
}

// -----

func.func @f(%m: memref<?xf32>, %i: index, %v4: vector<4xf32>) {
  // expected-error@+1 {{cannot name an operation with no results: 'vector.transfer_write'}}
  %a = vector.transfer_write %v4, %m[%i] : vector<4xf32>, memref<?xf32>
  return
}

// -----

func.func @f(%i: index, %v4: vector<4xf32>, %t: tensor<?xf32>) {
  // expected-error@+1 {{expected the number of tensor results (0) to be equal to the number of output tensors (1)}}
  "vector.transfer_write"(%v4, %t, %i) <{in_bounds = [false], permutation_map = affine_map<(d0)->(d0)>, operandSegmentSizes = array<i32: 1, 1, 1, 0>}> : (vector<4xf32>, tensor<?xf32>, index) -> ()
  return
}

// -----

func.func @f(%i: index, %s: f32, %mq: memref<?x?xf32>) {
  // expected-error@+1 {{requires a permutation_map that is a permutation (found one dim used more than once)}}
  %a = vector.transfer_read %mq[%i, %i], %s {permutation_map = affine_map<(d0, d1) -> (d0, d0)>} : memref<?x?xf32>, vector<4x4xf32>
  return
}

// -----

func.func @f(%i: index, %v4: vector<4xf32>, %t: tensor<?xf32>) {
  // expected-error@+1 {{requires 1 indices}}
  %a = vector.transfer_write %v4, %t[%i, %i] : vector<4xf32>, tensor<?xf32>
  return
}

// -----

func.func @f(%m2: memref<?x?xf32>, %i: index, %v24: vector<2x4xf32>, %k: vector<4xi1>) {
  // expected-error@+1 {{expected the same rank for the vector and the results of the permutation map}}
  vector.transfer_write %v24, %m2[%i, %i], %k {permutation_map = affine_map<(d0, d1) -> (d0, 0, 0)>} : vector<2x4xf32>, memref<?x?xf32>
  return
}

// -----

func.func @f(%m: memref<?xf32>, %i: index) {
  // expected-error@+1 {{requires formal padding and source of the same elemental type}}
  "vector.transfer_read"(%m, %i, %i) <{in_bounds = [false], permutation_map = affine_map<(d0)->(d0)>, operandSegmentSizes = array<i32: 1, 1, 1, 0>}> : (memref<?xf32>, index, index) -> vector<4xf32>
  return
}

// -----

func.func @f(%m: memref<?xf32>, %i: index, %v4: vector<4xf32>) {
  // expected-error@+1 {{requires valid padding vector elemental type}}
  "vector.transfer_read"(%m, %i, %v4) <{in_bounds = [false], permutation_map = affine_map<(d0)->(d0)>, operandSegmentSizes = array<i32: 1, 1, 1, 0>}> : (memref<?xf32>, index, vector<4xf32>) -> vector<4xf32>
  return
}

// -----

func.func @f(%i: index, %s: f32, %mv: memref<?xvector<4xf32>>) {
  // expected-error@+1 {{requires source element type and padding type to match.}}
  "vector.transfer_read"(%mv, %i, %s) <{in_bounds = [false], permutation_map = affine_map<(d0)->(d0)>, operandSegmentSizes = array<i32: 1, 1, 1, 0>}> : (memref<?xvector<4xf32>>, index, f32) -> vector<1x4xf32>
  return
}

// -----

func.func @f(%i: index, %s: f32, %v4: vector<4xf32>) {
  // expected-error@+1 {{requires source to be a memref or ranked tensor type}}
  "vector.transfer_read"(%v4, %i, %s) <{in_bounds = [false], permutation_map = affine_map<(d0)->(d0)>, operandSegmentSizes = array<i32: 1, 1, 1, 0>}> : (vector<4xf32>, index, f32) -> vector<4xf32>
  return
}

// -----

func.func @f(%i: index, %v4: vector<4xf32>, %mv: memref<?xvector<4xf32>>) {
  // expected-error@+1 {{requires the bitwidth of the minor 1-D vector to be an integral multiple of the bitwidth of the minor 1-D vector of the source}}
  "vector.transfer_read"(%mv, %i, %v4) <{in_bounds = [], permutation_map = affine_map<(d0)->()>, operandSegmentSizes = array<i32: 1, 1, 1, 0>}> : (memref<?xvector<4xf32>>, index, vector<4xf32>) -> vector<f32>
  return
}

// -----

func.func @f(%i: index, %v4: vector<4xf32>, %t: tensor<8xf32>) {
  // expected-error@+1 {{expected type of operand #1 ('tensor<8xf32>') to match type of corresponding result ('tensor<4xf32>')}}
  "vector.transfer_write"(%v4, %t, %i) <{in_bounds = [false], permutation_map = affine_map<(d0)->(d0)>, operandSegmentSizes = array<i32: 1, 1, 1, 0>}> : (vector<4xf32>, tensor<8xf32>, index) -> tensor<4xf32>
  return
}
