// RUN: gradus opt %s

func.func @read(%m: memref<4x8xi32>, %t: tensor<?x8xi32>, %i: index, %j: index, %p: i32) -> (vector<2x3xi32>, vector<3xi32>, vector<3x2xi32>, vector<2x3xi32>) {
  %0 = vector.transfer_read %m[%i, %j], %p : memref<4x8xi32>, vector<2x3xi32>
  %1 = vector.transfer_read %t[%i, %j], %p {in_bounds = [false], note} : tensor<?x8xi32>, vector<3xi32>
  %2 = vector.transfer_read %m[%i, %j], %p {permutation_map = affine_map<(d0, d1) -> (d1, d0)>} : memref<4x8xi32>, vector<3x2xi32>
  %3 = vector.transfer_read %m[%i, %j], %p {in_bounds = [true, false], permutation_map = affine_map<(d0, d1) -> (0, d0)>} : memref<4x8xi32>, vector<2x3xi32>
  return %0, %1, %2, %3 : vector<2x3xi32>, vector<3xi32>, vector<3x2xi32>, vector<2x3xi32>
}
func.func @read_under_mask(%m: memref<4x8xi32>, %i: index, %p: i32, %k: vector<2x3xi1>) -> vector<3x5x2xi32> {
  %0 = vector.transfer_read %m[%i, %i], %p, %k {in_bounds = [false, true, false], permutation_map = affine_map<(d0, d1) -> (d1, 0, d0)>} : memref<4x8xi32>, vector<3x5x2xi32>
  return %0 : vector<3x5x2xi32>
}
func.func @write(%m: memref<4x8xi32>, %i: index, %j: index, %v: vector<2x3xi32>, %w: vector<3xi32>, %k: vector<3xi1>) {
  vector.transfer_write %v, %m[%i, %j] : vector<2x3xi32>, memref<4x8xi32>
  vector.transfer_write %v, %m[%i, %j] {permutation_map = affine_map<(d0, d1) -> (d1, d0)>} : vector<2x3xi32>, memref<4x8xi32>
  vector.transfer_write %w, %m[%i, %j], %k {permutation_map = affine_map<(d0, d1) -> (d0)>} : vector<3xi32>, memref<4x8xi32>
  return
}
func.func @write_tensor(%t: tensor<4x?xi32>, %i: index, %v: vector<2x3xi32>) -> (tensor<4x?xi32>, tensor<4x?xi32>) {
  %0 = vector.transfer_write %v, %t[%i, %i] : vector<2x3xi32>, tensor<4x?xi32>
  %1 = vector.transfer_write %v, %t[%i, %i] {in_bounds = [true, true]} : vector<2x3xi32>, tensor<4x?xi32>
  return %0, %1 : tensor<4x?xi32>, tensor<4x?xi32>
}
func.func @without_dims(%m: memref<f32>, %p: f32) -> (vector<f32>, vector<1xf32>) {
  %0 = vector.transfer_read %m[], %p : memref<f32>, vector<f32>
  %1 = vector.transfer_read %m[], %p {in_bounds = [true], permutation_map = affine_map<() -> (0)>} : memref<f32>, vector<1xf32>
  vector.transfer_write %0, %m[] : vector<f32>, memref<f32>
  return %0, %1 : vector<f32>, vector<1xf32>
}
func.func @of_vectors(%m: memref<?xvector<4xf32>>, %i: index, %p: vector<4xf32>) -> vector<2x4xf32> {
  %0 = vector.transfer_read %m[%i], %p : memref<?xvector<4xf32>>, vector<2x4xf32>
  return %0 : vector<2x4xf32>
}
