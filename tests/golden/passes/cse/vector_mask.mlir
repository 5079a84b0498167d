// RUN: gradus opt %s --cse

// Under a mask an op is another one than outside.
func.func @masked_and_not(%v: vector<4xi32>, %k: vector<4xi1>, %a: i32) -> (i32, i32) {
  %0 = vector.reduction <add>, %v, %a : vector<4xi32> into i32
  %1 = vector.mask %k { vector.reduction <add>, %v, %a : vector<4xi32> into i32 } : vector<4xi1> -> i32
  return %0, %1 : i32, i32
}
// Reading a tensor is no access to memory.
func.func @reads(%t: tensor<4xf32>, %m: memref<4xf32>, %i: index, %p: f32) -> (vector<4xf32>, vector<4xf32>) {
  %0 = vector.transfer_read %t[%i], %p : tensor<4xf32>, vector<4xf32>
  vector.store %0, %m[%i] : memref<4xf32>, vector<4xf32>
  %1 = vector.transfer_read %t[%i], %p : tensor<4xf32>, vector<4xf32>
  return %0, %1 : vector<4xf32>, vector<4xf32>
}
