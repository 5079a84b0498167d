// RUN: gradus opt %s --canonicalize

// A subview of the whole memref, by its type or by its operands.
func.func @whole(%m: memref<4x6xf32>, %d: memref<4x6xf32, strided<[?, ?], offset: ?>>) -> (memref<4x6xf32>, memref<4x6xf32, strided<[6, 1]>>, memref<4x6xf32, strided<[?, ?], offset: ?>>) {
  %0 = memref.subview %m[0, 0] [4, 6] [1, 1] : memref<4x6xf32> to memref<4x6xf32>
  %1 = memref.subview %m[0, 0] [4, 6] [1, 1] : memref<4x6xf32> to memref<4x6xf32, strided<[6, 1]>>
  %2 = memref.subview %d[0, 0] [4, 6] [1, 1] : memref<4x6xf32, strided<[?, ?], offset: ?>> to memref<4x6xf32, strided<[?, ?], offset: ?>>
  return %0, %1, %2 : memref<4x6xf32>, memref<4x6xf32, strided<[6, 1]>>, memref<4x6xf32, strided<[?, ?], offset: ?>>
}

// A subview of a whole subview.
func.func @part_of_part(%m: memref<?x?xf32>, %o: index, %n: index) -> memref<?x?xf32, strided<[?, 1], offset: ?>> {
  %0 = memref.subview %m[%o, %o] [%n, %n] [1, 1] : memref<?x?xf32> to memref<?x?xf32, strided<[?, 1], offset: ?>>
  %1 = memref.subview %0[0, 0] [%n, %n] [1, 1] : memref<?x?xf32, strided<[?, 1], offset: ?>> to memref<?x?xf32, strided<[?, 1], offset: ?>>
  return %1 : memref<?x?xf32, strided<[?, 1], offset: ?>>
}

// Constants are moved into the type.
func.func @constants(%m: memref<8x8xf32>, %n: index, %i: index) -> (f32, memref<?x?xf32, strided<[?, ?], offset: ?>>) {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %0 = memref.subview %m[%c1, %c2] [%c2, %n] [%c1, %c2] : memref<8x8xf32> to memref<?x?xf32, strided<[?, ?], offset: ?>>
  %1 = memref.load %0[%i, %i] : memref<?x?xf32, strided<[?, ?], offset: ?>>
  return %1, %0 : f32, memref<?x?xf32, strided<[?, ?], offset: ?>>
}

func.func @reduced(%m: memref<8x8x8xf32>, %i: index) -> f32 {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %0 = memref.subview %m[%c1, %i, %c2] [1, 1, %c2] [1, 1, 1] : memref<8x8x8xf32> to memref<?xf32, strided<[1], offset: ?>>
  %1 = memref.load %0[%i] : memref<?xf32, strided<[1], offset: ?>>
  return %1 : f32
}

// Not if the verifier would reject the result.
func.func @outside(%m: memref<8xf32>) -> memref<?xf32, strided<[1], offset: ?>> {
  %c6 = arith.constant 6 : index
  %0 = memref.subview %m[%c6] [%c6] [1] : memref<8xf32> to memref<?xf32, strided<[1], offset: ?>>
  return %0 : memref<?xf32, strided<[1], offset: ?>>
}

func.func @negative(%m: memref<8xf32>) -> memref<?xf32, strided<[1], offset: ?>> {
  %c-1 = arith.constant -1 : index
  %0 = memref.subview %m[%c-1] [%c-1] [1] : memref<8xf32> to memref<?xf32, strided<[1], offset: ?>>
  return %0 : memref<?xf32, strided<[1], offset: ?>>
}

// The subview of a cast becomes a cast of the subview.
func.func @of_cast(%m: memref<16x16xf32>, %o: index, %i: index) -> (f32, memref<3x4xf32, strided<[?, 1], offset: ?>>) {
  %0 = memref.cast %m : memref<16x16xf32> to memref<?x?xf32>
  %1 = memref.subview %0[%o, 2] [3, 4] [1, 1] : memref<?x?xf32> to memref<3x4xf32, strided<[?, 1], offset: ?>>
  %2 = memref.subview %0[%o, 2] [1, 4] [1, 1] : memref<?x?xf32> to memref<4xf32, strided<[1], offset: ?>>
  %3 = memref.load %2[%i] : memref<4xf32, strided<[1], offset: ?>>
  return %3, %1 : f32, memref<3x4xf32, strided<[?, 1], offset: ?>>
}

// Not for a cast that asserts a more static type.
func.func @of_promise(%m: memref<?x?xf32>, %o: index) -> memref<3x4xf32, strided<[16, 1], offset: ?>> {
  %0 = memref.cast %m : memref<?x?xf32> to memref<16x16xf32>
  %1 = memref.subview %0[%o, 2] [3, 4] [1, 1] : memref<16x16xf32> to memref<3x4xf32, strided<[16, 1], offset: ?>>
  return %1 : memref<3x4xf32, strided<[16, 1], offset: ?>>
}

// A memref without elements: the verifier would reject the subview of the static type.
func.func @of_cast_of_nothing(%m: memref<0xi32>, %n: index) -> memref<?xi32, strided<[1]>> {
  %0 = memref.cast %m : memref<0xi32> to memref<?xi32>
  %1 = memref.subview %0[0] [%n] [1] : memref<?xi32> to memref<?xi32, strided<[1]>>
  return %1 : memref<?xi32, strided<[1]>>
}

// Once the first size is known, two of three unit dimensions are kept by the order of their strides.
func.func @order_of_strides(%m: memref<1x1x2xi8, strided<[3, 1, 3]>>, %i: index) -> memref<?x1xi8, strided<[3, ?], offset: ?>> {
  %c1 = arith.constant 1 : index
  %0 = memref.subview %m[%i, %i, 1] [%c1, 1, 1] [1, %i, 1] : memref<1x1x2xi8, strided<[3, 1, 3]>> to memref<?x1xi8, strided<[3, ?], offset: ?>>
  return %0 : memref<?x1xi8, strided<[3, ?], offset: ?>>
}
