// RUN: gradus opt %s

func.func @load(%m: memref<4x8xf32>, %i: index, %j: index) -> (vector<2x3xf32>, vector<4xf32>, vector<f32>) {
  %0 = vector.load %m[%i, %j] : memref<4x8xf32>, vector<2x3xf32>
  %1 = vector.load %m[%i, %j] {alignment = 8 : i64, nontemporal = true} : memref<4x8xf32>, vector<4xf32>
  %2 = vector.load %m[%i, %j] : memref<4x8xf32>, vector<f32>
  return %0, %1, %2 : vector<2x3xf32>, vector<4xf32>, vector<f32>
}
func.func @store(%m: memref<4x8xf32>, %i: index, %j: index, %v: vector<2x3xf32>, %w: vector<2xf32>) {
  vector.store %v, %m[%i, %j] : memref<4x8xf32>, vector<2x3xf32>
  vector.store %w, %m[%i, %j] {alignment = 16 : i64} : memref<4x8xf32>, vector<2xf32>
  return
}
func.func @masked(%m: memref<8xi32>, %i: index, %k: vector<4xi1>, %v: vector<4xi32>) -> vector<4xi32> {
  %0 = vector.maskedload %m[%i], %k, %v : memref<8xi32>, vector<4xi1>, vector<4xi32> into vector<4xi32>
  vector.maskedstore %m[%i], %k, %v {alignment = 4 : i64} : memref<8xi32>, vector<4xi1>, vector<4xi32>
  return %0 : vector<4xi32>
}
func.func @packed(%m: memref<8xi32>, %i: index, %k: vector<4xi1>, %v: vector<4xi32>) -> vector<4xi32> {
  %0 = vector.expandload %m[%i], %k, %v : memref<8xi32>, vector<4xi1>, vector<4xi32> into vector<4xi32>
  vector.compressstore %m[%i], %k, %v : memref<8xi32>, vector<4xi1>, vector<4xi32>
  return %0 : vector<4xi32>
}
func.func @indexed(%m: memref<4x8xi32>, %i: index, %x: vector<4xindex>, %k: vector<4xi1>, %v: vector<4xi32>) -> vector<4xi32> {
  %0 = vector.gather %m[%i, %i] [%x], %k, %v : memref<4x8xi32>, vector<4xindex>, vector<4xi1>, vector<4xi32> into vector<4xi32>
  vector.scatter %m[%i, %i] [%x], %k, %v : memref<4x8xi32>, vector<4xindex>, vector<4xi1>, vector<4xi32>
  return %0 : vector<4xi32>
}
func.func @indexed_tensor(%t: tensor<8xi32>, %i: index, %x: vector<2x2xi8>, %k: vector<2x2xi1>, %v: vector<2x2xi32>) -> (vector<2x2xi32>, tensor<8xi32>) {
  %0 = vector.gather %t[%i] [%x], %k, %v : tensor<8xi32>, vector<2x2xi8>, vector<2x2xi1>, vector<2x2xi32> into vector<2x2xi32>
  %1 = vector.scatter %t[%i] [%x], %k, %v : tensor<8xi32>, vector<2x2xi8>, vector<2x2xi1>, vector<2x2xi32> -> tensor<8xi32>
  return %0, %1 : vector<2x2xi32>, tensor<8xi32>
}
func.func @type_cast(%m: memref<4x8xf32, 3>) -> memref<vector<4x8xf32>, 3> {
  %0 = vector.type_cast %m : memref<4x8xf32, 3> to memref<vector<4x8xf32>, 3>
  return %0 : memref<vector<4x8xf32>, 3>
}
