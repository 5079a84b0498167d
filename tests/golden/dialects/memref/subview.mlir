// RUN: gradus opt %s

func.func @static(%m: memref<8x8xi32>, %i: index) -> i32 {
  %0 = memref.subview %m[1, 2] [3, 3] [2, 1] : memref<8x8xi32> to memref<3x3xi32, strided<[16, 1], offset: 10>>
  %1 = memref.load %0[%i, %i] : memref<3x3xi32, strided<[16, 1], offset: 10>>
  return %1 : i32
}

// A subview of a subview.
func.func @dynamic(%m: memref<?x?xi32>, %o: index, %n: index, %s: index) -> i32 {
  %c0 = arith.constant 0 : index
  %0 = memref.subview %m[%o, 0] [%n, 2] [1, %s] : memref<?x?xi32> to memref<?x2xi32, strided<[?, ?], offset: ?>>
  %1 = memref.subview %0[0, 1] [1, 1] [1, 1] {note} : memref<?x2xi32, strided<[?, ?], offset: ?>> to memref<1x1xi32, strided<[?, ?], offset: ?>>
  %2 = memref.load %1[%c0, %c0] : memref<1x1xi32, strided<[?, ?], offset: ?>>
  return %2 : i32
}

// Rank reduction drops unit dimensions; if several qualify, the strides decide which.
func.func @reduced(%m: memref<4x1x8xf32>, %i: index) -> (f32, f32, f32) {
  %0 = memref.subview %m[%i, 0, 2] [1, 1, 4] [1, 1, 1] : memref<4x1x8xf32> to memref<4xf32, strided<[1], offset: ?>>
  %1 = memref.subview %m[0, 0, %i] [4, 1, 1] [1, 1, 1] : memref<4x1x8xf32> to memref<4x1xf32, strided<[8, 1], offset: ?>>
  %2 = memref.subview %m[%i, 0, %i] [1, 1, 1] [1, 1, 1] : memref<4x1x8xf32> to memref<f32, strided<[], offset: ?>>
  %c0 = arith.constant 0 : index
  %3 = memref.load %0[%i] : memref<4xf32, strided<[1], offset: ?>>
  %4 = memref.load %1[%i, %c0] : memref<4x1xf32, strided<[8, 1], offset: ?>>
  %5 = memref.load %2[] : memref<f32, strided<[], offset: ?>>
  return %3, %4, %5 : f32, f32, f32
}

func.func @scalar(%m: memref<i32>) -> i32 {
  %0 = memref.subview %m[] [] [] : memref<i32> to memref<i32, strided<[]>>
  %1 = memref.load %0[] : memref<i32, strided<[]>>
  return %1 : i32
}

// A store through a subview is visible in its source.
func.func @written(%m: memref<6xi32>, %v: i32) {
  %c1 = arith.constant 1 : index
  %0 = memref.subview %m[1] [2] [3] : memref<6xi32> to memref<2xi32, strided<[3], offset: 1>>
  memref.store %v, %0[%c1] : memref<2xi32, strided<[3], offset: 1>>
  return
}
