// RUN: gradus opt %s --canonicalize

#map = affine_map<(d0) -> (0, d0)>
func.func @read_through_memref_cast(%arg0: memref<8xf32>, %arg1: index, %arg2: f32) -> vector<4xf32> {
  %cast = memref.cast %arg0 : memref<8xf32> to memref<?xf32>
  %0 = vector.transfer_read %cast[%arg1], %arg2 : memref<?xf32>, vector<4xf32>
  return %0 : vector<4xf32>
}
func.func @read_through_tensor_cast(%arg0: tensor<8xf32>, %arg1: index, %arg2: f32) -> vector<4xf32> {
  %cast = tensor.cast %arg0 : tensor<8xf32> to tensor<?xf32>
  %0 = vector.transfer_read %cast[%arg1], %arg2 : tensor<?xf32>, vector<4xf32>
  return %0 : vector<4xf32>
}
func.func @read_known_to_be_inside(%arg0: memref<8xf32>, %arg1: f32) -> vector<4xf32> {
  %c4 = arith.constant 4 : index
  %0 = vector.transfer_read %arg0[%c4], %arg1 : memref<8xf32>, vector<4xf32>
  return %0 : vector<4xf32>
}
func.func @read_beyond_the_end_stays(%arg0: memref<8xf32>, %arg1: f32) -> vector<4xf32> {
  %c5 = arith.constant 5 : index
  %0 = vector.transfer_read %arg0[%c5], %arg1 : memref<8xf32>, vector<4xf32>
  return %0 : vector<4xf32>
}
func.func @read_of_repeated_elements(%arg0: memref<8xf32>, %arg1: f32, %arg2: index) -> vector<4x1xf32> {
  %0 = vector.transfer_read %arg0[%arg2], %arg1 {permutation_map = #map} : memref<8xf32>, vector<4x1xf32>
  return %0 : vector<4x1xf32>
}
func.func @write_known_to_be_inside(%arg0: vector<4xf32>, %arg1: memref<8xf32>) {
  %c4 = arith.constant 4 : index
  vector.transfer_write %arg0, %arg1[%c4] : vector<4xf32>, memref<8xf32>
  return
}
func.func @read_after_write(%arg0: vector<4xf32>, %arg1: tensor<8xf32>, %arg2: f32) -> vector<4xf32> {
  %c4 = arith.constant 4 : index
  %0 = vector.transfer_write %arg0, %arg1[%c4] : vector<4xf32>, tensor<8xf32>
  %1 = vector.transfer_read %0[%c4], %arg2 : tensor<8xf32>, vector<4xf32>
  return %1 : vector<4xf32>
}
func.func @read_after_write_with_promises(%arg0: vector<4xf32>, %arg1: tensor<8xf32>, %arg2: f32, %arg3: index) -> vector<4xf32> {
  %0 = vector.transfer_write %arg0, %arg1[%arg3] {in_bounds = [true]} : vector<4xf32>, tensor<8xf32>
  %1 = vector.transfer_read %0[%arg3], %arg2 {in_bounds = [true]} : tensor<8xf32>, vector<4xf32>
  return %1 : vector<4xf32>
}
func.func @write_over_write(%arg0: vector<4xf32>, %arg1: vector<4xf32>, %arg2: tensor<8xf32>, %arg3: index) -> tensor<8xf32> {
  %0 = vector.transfer_write %arg0, %arg2[%arg3] {in_bounds = [true]} : vector<4xf32>, tensor<8xf32>
  %1 = vector.transfer_write %arg1, %0[%arg3] {in_bounds = [true]} : vector<4xf32>, tensor<8xf32>
  return %1 : tensor<8xf32>
}
func.func @write_after_read(%arg0: tensor<4xf32>, %arg1: f32) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %0 = vector.transfer_read %arg0[%c0], %arg1 : tensor<4xf32>, vector<4xf32>
  %1 = vector.transfer_write %0, %arg0[%c0] : vector<4xf32>, tensor<4xf32>
  return %1 : tensor<4xf32>
}
func.func @repeated_read_after_write(%arg0: vector<4xf32>, %arg1: tensor<8xf32>, %arg2: f32, %arg3: index) -> vector<2x4xf32> {
  %0 = vector.transfer_write %arg0, %arg1[%arg3] {in_bounds = [true]} : vector<4xf32>, tensor<8xf32>
  %1 = vector.transfer_read %0[%arg3], %arg2 {in_bounds = [true, true], permutation_map = #map} : tensor<8xf32>, vector<2x4xf32>
  return %1 : vector<2x4xf32>
}
func.func @write_of_whole_tensor(%arg0: vector<4xf32>, %arg1: tensor<4xf32>) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %0 = vector.transfer_write %arg0, %arg1[%c0] : vector<4xf32>, tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func @read_under_true_mask(%arg0: memref<8xf32>, %arg1: index, %arg2: f32) -> vector<4xf32> {
  %0 = vector.constant_mask [4] : vector<4xi1>
  %1 = vector.transfer_read %arg0[%arg1], %arg2, %0 : memref<8xf32>, vector<4xf32>
  return %1 : vector<4xf32>
}
func.func @read_beside_write_stays(%arg0: vector<4xf32>, %arg1: tensor<8xf32>, %arg2: f32, %arg3: index, %arg4: index) -> vector<4xf32> {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %0 = vector.transfer_write %arg0, %arg1[%c0] {in_bounds = [true]} : vector<4xf32>, tensor<8xf32>
  %1 = vector.transfer_read %0[%c4], %arg2 {in_bounds = [true]} : tensor<8xf32>, vector<4xf32>
  return %1 : vector<4xf32>
}
