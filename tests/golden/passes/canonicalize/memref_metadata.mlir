// RUN: gradus opt %s --canonicalize

// Static metadata of the type becomes constants.
func.func @constants(%m: memref<?x4xi32, strided<[?, 1], offset: 2>>) -> (index, index, index, index, index) {
  %base, %offset, %sizes:2, %strides:2 = memref.extract_strided_metadata %m
    : memref<?x4xi32, strided<[?, 1], offset: 2>> -> memref<i32>, index, index, index, index, index
  return %offset, %sizes#0, %sizes#1, %strides#0, %strides#1 : index, index, index, index, index
}

func.func @of_cast(%m: memref<?x?xi32, strided<[?, ?], offset: ?>>) -> (memref<i32>, index, index, index, index, index) {
  %0 = memref.cast %m : memref<?x?xi32, strided<[?, ?], offset: ?>> to memref<4x?xi32, strided<[?, 18], offset: 25>>
  %base, %offset, %sizes:2, %strides:2 = memref.extract_strided_metadata %0
    : memref<4x?xi32, strided<[?, 18], offset: 25>> -> memref<i32>, index, index, index, index, index
  return %base, %offset, %sizes#0, %sizes#1, %strides#0, %strides#1 : memref<i32>, index, index, index, index, index
}

// `reinterpret_cast` of its own metadata is the source or a cast of it.
func.func @same(%m: memref<?x?xi32, strided<[?, ?], offset: ?>>) -> memref<?x?xi32, strided<[?, ?], offset: ?>> {
  %base, %offset, %sizes:2, %strides:2 = memref.extract_strided_metadata %m
    : memref<?x?xi32, strided<[?, ?], offset: ?>> -> memref<i32>, index, index, index, index, index
  %0 = memref.reinterpret_cast %base to offset: [%offset], sizes: [%sizes#0, %sizes#1], strides: [%strides#0, %strides#1]
    : memref<i32> to memref<?x?xi32, strided<[?, ?], offset: ?>>
  return %0 : memref<?x?xi32, strided<[?, ?], offset: ?>>
}

func.func @cast(%m: memref<3x4xi32>) -> memref<3x?xi32, strided<[?, 1], offset: ?>> {
  %c4 = arith.constant 4 : index
  %base, %offset, %sizes:2, %strides:2 = memref.extract_strided_metadata %m
    : memref<3x4xi32> -> memref<i32>, index, index, index, index, index
  %0 = memref.reinterpret_cast %base to offset: [%offset], sizes: [3, %c4], strides: [%strides#0, 1]
    : memref<i32> to memref<3x?xi32, strided<[?, 1], offset: ?>>
  return %0 : memref<3x?xi32, strided<[?, 1], offset: ?>>
}

// With other metadata, the base buffer is replaced by the memref.
func.func @other(%m: memref<?x?xi32>, %i: index) -> i32 {
  %base, %offset, %sizes:2, %strides:2 = memref.extract_strided_metadata %m
    : memref<?x?xi32> -> memref<i32>, index, index, index, index, index
  %0 = memref.reinterpret_cast %base to offset: [%offset], sizes: [%sizes#1, %sizes#0], strides: [%strides#1, %strides#0]
    : memref<i32> to memref<?x?xi32, strided<[?, ?], offset: ?>>
  %1 = memref.load %0[%i, %i] : memref<?x?xi32, strided<[?, ?], offset: ?>>
  return %1 : i32
}

// `reinterpret_cast` depends only on the base buffer of its source.
func.func @sources(%m: memref<4x4xf32>, %i: index) -> (f32, f32, f32, f32) {
  %a = memref.reinterpret_cast %m to offset: [3], sizes: [2], strides: [1] : memref<4x4xf32> to memref<2xf32, strided<[1], offset: 3>>
  %b = memref.reinterpret_cast %a to offset: [1], sizes: [3], strides: [1] : memref<2xf32, strided<[1], offset: 3>> to memref<3xf32, strided<[1], offset: 1>>
  %c = memref.cast %m : memref<4x4xf32> to memref<*xf32>
  %d = memref.reinterpret_cast %c to offset: [0], sizes: [16], strides: [1] : memref<*xf32> to memref<16xf32>
  %e = memref.subview %m[0, 0] [2, 2] [1, 1] : memref<4x4xf32> to memref<2x2xf32, strided<[4, 1]>>
  %f = memref.reinterpret_cast %e to offset: [0], sizes: [2], strides: [5] : memref<2x2xf32, strided<[4, 1]>> to memref<2xf32, strided<[5]>>
  %g = memref.subview %m[1, 0] [2, 2] [1, 1] : memref<4x4xf32> to memref<2x2xf32, strided<[4, 1], offset: 4>>
  %h = memref.reinterpret_cast %g to offset: [0], sizes: [2], strides: [5] : memref<2x2xf32, strided<[4, 1], offset: 4>> to memref<2xf32, strided<[5]>>
  %0 = memref.load %b[%i] : memref<3xf32, strided<[1], offset: 1>>
  %1 = memref.load %d[%i] : memref<16xf32>
  %2 = memref.load %f[%i] : memref<2xf32, strided<[5]>>
  %3 = memref.load %h[%i] : memref<2xf32, strided<[5]>>
  return %0, %1, %2, %3 : f32, f32, f32, f32
}

func.func @noop(%m: memref<4xf32>, %n: memref<?xf32>, %k: index) -> (memref<4xf32>, memref<?xf32>) {
  %0 = memref.reinterpret_cast %m to offset: [0], sizes: [4], strides: [1] : memref<4xf32> to memref<4xf32>
  %1 = memref.reinterpret_cast %n to offset: [0], sizes: [%k], strides: [1] : memref<?xf32> to memref<?xf32>
  return %0, %1 : memref<4xf32>, memref<?xf32>
}

// Constant operands refine the type.
func.func @constant_entries(%m: memref<?xf32>, %n: index, %k: index) -> memref<8x?xf32, strided<[?, 1], offset: ?>> {
  %c2 = arith.constant 2 : index
  %c8 = arith.constant 8 : index
  %0 = memref.reinterpret_cast %m to offset: [%c2], sizes: [8, %n], strides: [%k, 1] : memref<?xf32> to memref<8x?xf32, strided<[?, 1], offset: ?>>
  return %0 : memref<8x?xf32, strided<[?, 1], offset: ?>>
}

// A constant negative offset is not moved into the type, not even in unreachable code: the verifier would reject it.
func.func @before(%m: memref<8xi32>) -> memref<4xi32, strided<[1], offset: ?>> {
  %c-2 = arith.constant -2 : index
  %0 = memref.reinterpret_cast %m to offset: [%c-2], sizes: [4], strides: [1]
    : memref<8xi32> to memref<4xi32, strided<[1], offset: ?>>
  return %0 : memref<4xi32, strided<[1], offset: ?>>
}
