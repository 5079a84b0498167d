// RUN: gradus opt %s

func.func @create(%i: index, %j: index) -> (vector<4x3xi1>, vector<i1>) {
  %0 = vector.create_mask %i, %j : vector<4x3xi1>
  %1 = vector.create_mask %i {note} : vector<i1>
  return %0, %1 : vector<4x3xi1>, vector<i1>
}
func.func @constant() -> (vector<4x3xi1>, vector<i1>, vector<[4]xi1>) {
  %0 = vector.constant_mask [2, 3] : vector<4x3xi1>
  %1 = vector.constant_mask [0] : vector<i1>
  %2 = vector.constant_mask [4] : vector<[4]xi1>
  return %0, %1, %2 : vector<4x3xi1>, vector<i1>, vector<[4]xi1>
}
func.func @masked(%k: vector<4xi1>, %v: vector<4xi32>, %m: memref<?xi32>, %i: index, %s: i32) -> (i32, vector<4xi32>, vector<4xi32>) {
  %0 = vector.mask %k { vector.reduction <add>, %v : vector<4xi32> into i32 } : vector<4xi1> -> i32
  %1 = vector.mask %k, %v { vector.transfer_read %m[%i], %s : memref<?xi32>, vector<4xi32> } : vector<4xi1> -> vector<4xi32>
  vector.mask %k { vector.transfer_write %v, %m[%i] : vector<4xi32>, memref<?xi32> } {note} : vector<4xi1>
  vector.mask %k { } : vector<4xi1>
  %2 = vector.mask %k { vector.yield %v : vector<4xi32> } : vector<4xi1> -> vector<4xi32>
  return %0, %1, %2 : i32, vector<4xi32>, vector<4xi32>
}
func.func @masked_others(%k: vector<2x3xi1>, %v: vector<2x3xi32>, %a: vector<2xi32>, %b: vector<3xi32>) -> (vector<2xi32>, vector<2x3xi32>) {
  %0 = vector.mask %k { vector.multi_reduction <add>, %v, %a [1] : vector<2x3xi32> to vector<2xi32> } : vector<2x3xi1> -> vector<2xi32>
  %1 = vector.mask %k { vector.outerproduct %a, %b, %v : vector<2xi32>, vector<3xi32> } : vector<2x3xi1> -> vector<2x3xi32>
  return %0, %1 : vector<2xi32>, vector<2x3xi32>
}
func.func @true_mask(%v: vector<4xi32>) -> i32 {
  %k = arith.constant dense<true> : vector<4xi1>
  %0 = vector.mask %k { vector.reduction <add>, %v : vector<4xi32> into i32 } : vector<4xi1> -> i32
  return %0 : i32
}
