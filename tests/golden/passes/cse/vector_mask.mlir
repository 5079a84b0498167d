// RUN: gradus opt %s --cse

// A masked op is not equal to an unmasked one.
func.func @masked_and_not(%v: vector<4xi32>, %k: vector<4xi1>, %a: i32) -> (i32, i32) {
  %0 = vector.reduction <add>, %v, %a : vector<4xi32> into i32
  %1 = vector.mask %k { vector.reduction <add>, %v, %a : vector<4xi32> into i32 } : vector<4xi1> -> i32
  return %0, %1 : i32, i32
}
// Reads of tensors have no memory effects.
func.func @reads(%t: tensor<4xf32>, %m: memref<4xf32>, %i: index, %p: f32) -> (vector<4xf32>, vector<4xf32>) {
  %0 = vector.transfer_read %t[%i], %p : tensor<4xf32>, vector<4xf32>
  vector.store %0, %m[%i] : memref<4xf32>, vector<4xf32>
  %1 = vector.transfer_read %t[%i], %p : tensor<4xf32>, vector<4xf32>
  return %0, %1 : vector<4xf32>, vector<4xf32>
}
