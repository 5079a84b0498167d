// RUN: gradus opt %s --canonicalize

func.func @types(%m: memref<4x?xf32>, %u: memref<*xf32>, %i: index) -> (index, index, index, index, index) {
  %c0 = arith.constant 0 : index
  %c7 = arith.constant 7 : index
  %0 = memref.dim %m, %c0 : memref<4x?xf32>
  %1 = memref.dim %m, %i : memref<4x?xf32>
  %2 = memref.dim %u, %c0 : memref<*xf32>
  %3 = memref.rank %m : memref<4x?xf32>
  %4 = memref.rank %u : memref<*xf32>
  return %0, %1, %2, %3, %4 : index, index, index, index, index
}

func.func @outside(%m: memref<4xf32>) -> index {
  %c7 = arith.constant 7 : index
  %0 = memref.dim %m, %c7 : memref<4xf32>
  return %0 : index
}

// The operand that defines the extent.
func.func @makers(%n: index, %k: index, %bytes: memref<64xi8>, %m: memref<?x?x4xf32>) -> (index, index, index, index, index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %a = memref.alloc(%n, %k) : memref<?x4x?xf32>
  %0 = memref.dim %a, %c2 : memref<?x4x?xf32>
  %b = memref.alloca(%n) : memref<2x?xf32>
  %1 = memref.dim %b, %c1 : memref<2x?xf32>
  %v = memref.view %bytes[%c0][%k] : memref<64xi8> to memref<?xf32>
  %2 = memref.dim %v, %c0 : memref<?xf32>
  %s = memref.subview %m[0, 0, 0] [1, %n, %k] [1, 1, 1] : memref<?x?x4xf32> to memref<?x?xf32, strided<[4, 1]>>
  %3 = memref.dim %s, %c0 : memref<?x?xf32, strided<[4, 1]>>
  %4 = memref.dim %s, %c1 : memref<?x?xf32, strided<[4, 1]>>
  return %0, %1, %2, %3, %4 : index, index, index, index, index
}

func.func @cast(%m: memref<?x4xf32>) -> (index, index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0 = memref.cast %m : memref<?x4xf32> to memref<?x?xf32>
  %1 = memref.dim %0, %c0 : memref<?x?xf32>
  %2 = memref.dim %0, %c1 : memref<?x?xf32>
  return %1, %2 : index, index
}

// The extent is loaded from the shape operand, at the reshape.
func.func @reshape(%m: memref<*xf32>, %shape: memref<?xindex>, %i: index) -> (index, memref<*xf32>) {
  %c0 = arith.constant 0 : index
  %0 = memref.reshape %m(%shape) : (memref<*xf32>, memref<?xindex>) -> memref<*xf32>
  memref.store %i, %shape[%c0] : memref<?xindex>
  %1 = memref.dim %0, %i : memref<*xf32>
  return %1, %0 : index, memref<*xf32>
}

func.func @reshape_i32(%m: memref<*xf32>, %shape: memref<?xi32>) -> (index, memref<*xf32>) {
  %c1 = arith.constant 1 : index
  %0 = memref.reshape %m(%shape) : (memref<*xf32>, memref<?xi32>) -> memref<*xf32>
  %1 = memref.dim %0, %c1 : memref<*xf32>
  return %1, %0 : index, memref<*xf32>
}

// Not if the index is defined after the reshape.
func.func @reshape_too_early(%m: memref<*xf32>, %shape: memref<?xi32>, %i: index) -> (index, memref<*xf32>) {
  %0 = memref.reshape %m(%shape) : (memref<*xf32>, memref<?xi32>) -> memref<*xf32>
  %1 = arith.addi %i, %i : index
  %2 = memref.dim %0, %1 : memref<*xf32>
  return %2, %0 : index, memref<*xf32>
}
