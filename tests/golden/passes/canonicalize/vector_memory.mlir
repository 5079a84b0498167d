// RUN: gradus opt %s --canonicalize

func.func @load_under_constant_mask(%arg0: memref<8xf32>, %arg1: index, %arg2: vector<4xf32>) -> vector<4xf32> {
  %0 = vector.constant_mask [4] : vector<4xi1>
  %1 = vector.maskedload %arg0[%arg1], %0, %arg2 : memref<8xf32>, vector<4xi1>, vector<4xf32> into vector<4xf32>
  return %1 : vector<4xf32>
}
func.func @load_under_false_mask(%arg0: memref<8xf32>, %arg1: index, %arg2: vector<4xf32>) -> vector<4xf32> {
  %0 = vector.constant_mask [0] : vector<4xi1>
  %1 = vector.maskedload %arg0[%arg1], %0, %arg2 : memref<8xf32>, vector<4xi1>, vector<4xf32> into vector<4xf32>
  return %1 : vector<4xf32>
}
func.func @load_under_true_mask(%arg0: memref<8xf32>, %arg1: index, %arg2: vector<4xf32>) -> vector<4xf32> {
  %cst = arith.constant dense<true> : vector<4xi1>
  %0 = vector.maskedload %arg0[%arg1], %cst, %arg2 : memref<8xf32>, vector<4xi1>, vector<4xf32> into vector<4xf32>
  return %0 : vector<4xf32>
}
func.func @store_under_true_mask(%arg0: memref<8xf32>, %arg1: index, %arg2: vector<4xf32>) {
  %cst = arith.constant dense<true> : vector<4xi1>
  vector.maskedstore %arg0[%arg1], %cst, %arg2 : memref<8xf32>, vector<4xi1>, vector<4xf32>
  return
}
func.func @store_under_false_mask(%arg0: memref<8xf32>, %arg1: index, %arg2: vector<4xf32>) {
  %cst = arith.constant dense<false> : vector<4xi1>
  vector.maskedstore %arg0[%arg1], %cst, %arg2 : memref<8xf32>, vector<4xi1>, vector<4xf32>
  return
}
func.func @expand_under_true_mask(%arg0: memref<8xf32>, %arg1: index, %arg2: vector<4xf32>) -> vector<4xf32> {
  %cst = arith.constant dense<true> : vector<4xi1>
  %0 = vector.expandload %arg0[%arg1], %cst, %arg2 : memref<8xf32>, vector<4xi1>, vector<4xf32> into vector<4xf32>
  return %0 : vector<4xf32>
}
func.func @expand_under_false_mask(%arg0: memref<8xf32>, %arg1: index, %arg2: vector<4xf32>) -> vector<4xf32> {
  %cst = arith.constant dense<false> : vector<4xi1>
  %0 = vector.expandload %arg0[%arg1], %cst, %arg2 : memref<8xf32>, vector<4xi1>, vector<4xf32> into vector<4xf32>
  return %0 : vector<4xf32>
}
func.func @compress_under_true_mask(%arg0: memref<8xf32>, %arg1: index, %arg2: vector<4xf32>) {
  %cst = arith.constant dense<true> : vector<4xi1>
  vector.compressstore %arg0[%arg1], %cst, %arg2 : memref<8xf32>, vector<4xi1>, vector<4xf32>
  return
}
func.func @compress_under_false_mask(%arg0: memref<8xf32>, %arg1: index, %arg2: vector<4xf32>) {
  %cst = arith.constant dense<false> : vector<4xi1>
  vector.compressstore %arg0[%arg1], %cst, %arg2 : memref<8xf32>, vector<4xi1>, vector<4xf32>
  return
}
func.func @gather_under_false_mask(%arg0: memref<8xf32>, %arg1: index, %arg2: vector<4xf32>, %arg3: vector<4xindex>) -> vector<4xf32> {
  %cst = arith.constant dense<false> : vector<4xi1>
  %0 = vector.gather %arg0[%arg1] [%arg3], %cst, %arg2 : memref<8xf32>, vector<4xindex>, vector<4xi1>, vector<4xf32> into vector<4xf32>
  return %0 : vector<4xf32>
}
func.func @gather_of_steps(%arg0: memref<8xf32>, %arg1: index, %arg2: vector<4xf32>, %arg3: vector<4xi1>) -> vector<4xf32> {
  %0 = vector.step : vector<4xindex>
  %1 = vector.gather %arg0[%arg1] [%0], %arg3, %arg2 : memref<8xf32>, vector<4xindex>, vector<4xi1>, vector<4xf32> into vector<4xf32>
  return %1 : vector<4xf32>
}
func.func @gather_of_a_row(%arg0: memref<8xf32>, %arg1: index, %arg2: vector<4xf32>, %arg3: vector<4xi1>) -> vector<4xf32> {
  %cst = arith.constant dense<[0, 1, 2, 3]> : vector<4xi32>
  %0 = vector.gather %arg0[%arg1] [%cst], %arg3, %arg2 : memref<8xf32>, vector<4xi32>, vector<4xi1>, vector<4xf32> into vector<4xf32>
  return %0 : vector<4xf32>
}
func.func @scatter_to_a_row(%arg0: memref<8xf32>, %arg1: index, %arg2: vector<4xf32>, %arg3: vector<4xi1>) {
  %cst = arith.constant dense<[0, 1, 2, 3]> : vector<4xi32>
  vector.scatter %arg0[%arg1] [%cst], %arg3, %arg2 : memref<8xf32>, vector<4xi32>, vector<4xi1>, vector<4xf32>
  return
}
func.func @scatter_under_false_mask(%arg0: memref<8xf32>, %arg1: index, %arg2: vector<4xf32>, %arg3: vector<4xi32>) {
  %cst = arith.constant dense<false> : vector<4xi1>
  vector.scatter %arg0[%arg1] [%arg3], %cst, %arg2 : memref<8xf32>, vector<4xi32>, vector<4xi1>, vector<4xf32>
  return
}
func.func @scatter_into_tensor_under_false_mask(%arg0: tensor<8xf32>, %arg1: index, %arg2: vector<4xf32>, %arg3: vector<4xi32>) -> tensor<8xf32> {
  %cst = arith.constant dense<false> : vector<4xi1>
  %0 = vector.scatter %arg0[%arg1] [%arg3], %cst, %arg2 : tensor<8xf32>, vector<4xi32>, vector<4xi1>, vector<4xf32> -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
func.func @load_through_cast(%arg0: memref<8xf32>, %arg1: index) -> vector<4xf32> {
  %cast = memref.cast %arg0 : memref<8xf32> to memref<?xf32>
  %0 = vector.load %cast[%arg1] : memref<?xf32>, vector<4xf32>
  return %0 : vector<4xf32>
}
