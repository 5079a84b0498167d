// RUN: gradus opt %s

func.func @extract(%m: memref<?x4xi32, strided<[?, 1], offset: ?>>) -> (index, index, index, index, index) {
  %base, %offset, %sizes:2, %strides:2 = memref.extract_strided_metadata %m
    : memref<?x4xi32, strided<[?, 1], offset: ?>> -> memref<i32>, index, index, index, index, index
  return %offset, %sizes#0, %sizes#1, %strides#0, %strides#1 : index, index, index, index, index
}

func.func @scalar(%m: memref<i32, strided<[], offset: ?>>, %v: i32) -> (i32, index) {
  %base, %offset = memref.extract_strided_metadata %m : memref<i32, strided<[], offset: ?>> -> memref<i32>, index
  memref.store %v, %base[] : memref<i32>
  %0 = memref.load %m[] : memref<i32, strided<[], offset: ?>>
  return %0, %offset : i32, index
}

// `reinterpret_cast` with permuted results of `extract_strided_metadata`.
func.func @again(%m: memref<?x?xi32>, %i: index, %j: index) -> i32 {
  %base, %offset, %sizes:2, %strides:2 = memref.extract_strided_metadata %m
    : memref<?x?xi32> -> memref<i32>, index, index, index, index, index
  %0 = memref.reinterpret_cast %base to offset: [%offset], sizes: [%sizes#1, %sizes#0], strides: [%strides#1, %strides#0]
    : memref<i32> to memref<?x?xi32, strided<[?, ?], offset: ?>>
  %1 = memref.load %0[%j, %i] : memref<?x?xi32, strided<[?, ?], offset: ?>>
  return %1 : i32
}

func.func @reinterpret(%m: memref<*xf32>, %n: index, %i: index) -> f32 {
  %0 = memref.reinterpret_cast %m to offset: [0], sizes: [1, %n], strides: [%n, 1] : memref<*xf32> to memref<1x?xf32, strided<[?, 1]>>
  %c0 = arith.constant 0 : index
  %1 = memref.load %0[%c0, %i] : memref<1x?xf32, strided<[?, 1]>>
  %2 = memref.reinterpret_cast %0 to offset: [1], sizes: [], strides: [] {note} : memref<1x?xf32, strided<[?, 1]>> to memref<f32, strided<[], offset: 1>>
  %3 = memref.load %2[] : memref<f32, strided<[], offset: 1>>
  %4 = arith.addf %1, %3 : f32
  return %4 : f32
}

// Pointer values are unsupported by the interpreter.
func.func @address(%m: memref<4xf32>, %u: memref<*xf32>) -> (index, index) {
  %0 = memref.extract_aligned_pointer_as_index %m : memref<4xf32> -> index
  %1 = memref.extract_aligned_pointer_as_index %u : memref<*xf32> -> index {note}
  return %0, %1 : index, index
}
