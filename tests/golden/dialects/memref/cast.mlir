// RUN: gradus opt %s

// Casts that add or drop static sizes, offset, strides and rank.
func.func @forget(%m: memref<2x3xf32>, %i: index) -> f32 {
  %0 = memref.cast %m : memref<2x3xf32> to memref<?x3xf32, strided<[?, 1], offset: ?>>
  %1 = memref.cast %0 : memref<?x3xf32, strided<[?, 1], offset: ?>> to memref<*xf32>
  %2 = memref.cast %1 : memref<*xf32> to memref<?x?xf32>
  %3 = memref.load %2[%i, %i] : memref<?x?xf32>
  return %3 : f32
}

// The result of a cast whose static type does not hold is poison, and its use is UB.
func.func @wrong(%m: memref<?xi32>, %i: index) -> i32 {
  %0 = memref.cast %m {note} : memref<?xi32> to memref<3xi32>
  %1 = memref.load %0[%i] : memref<3xi32>
  return %1 : i32
}

func.func @wrong_rank(%m: memref<*xi32>, %i: index) -> i32 {
  %0 = memref.cast %m : memref<*xi32> to memref<?x?xi32>
  %1 = memref.load %0[%i, %i] : memref<?x?xi32>
  return %1 : i32
}

func.func @spaces(%m: memref<4xf32, 5>, %u: memref<*xf32, "fast">, %i: index) -> (f32, memref<*xf32>) {
  %0 = memref.memory_space_cast %m : memref<4xf32, 5> to memref<4xf32>
  %1 = memref.memory_space_cast %0 : memref<4xf32> to memref<4xf32, 3>
  %2 = memref.load %1[%i] : memref<4xf32, 3>
  %3 = memref.memory_space_cast %u {note} : memref<*xf32, "fast"> to memref<*xf32>
  return %2, %3 : f32, memref<*xf32>
}
