// RUN: gradus opt %s

func.func @collapse(%m: memref<2x3x4xi32>, %i: index, %j: index) -> i32 {
  %0 = memref.collapse_shape %m [[0, 1], [2]] : memref<2x3x4xi32> into memref<6x4xi32>
  %1 = memref.load %0[%i, %j] : memref<6x4xi32>
  return %1 : i32
}

// Groups may have gaps between them. A gap within a group is an error, or poison if it is only known at run time.
func.func @gaps(%m: memref<2x3x4xi32, strided<[20, 4, 1], offset: 2>>, %o: memref<?x?xi32, strided<[?, 1]>>, %i: index) -> (i32, i32) {
  %0 = memref.collapse_shape %m [[0], [1, 2]] : memref<2x3x4xi32, strided<[20, 4, 1], offset: 2>> into memref<2x12xi32, strided<[20, 1], offset: 2>>
  %1 = memref.load %0[%i, %i] : memref<2x12xi32, strided<[20, 1], offset: 2>>
  %2 = memref.collapse_shape %o [[0, 1]] : memref<?x?xi32, strided<[?, 1]>> into memref<?xi32, strided<[?]>>
  %3 = memref.load %2[%i] : memref<?xi32, strided<[?]>>
  return %1, %3 : i32, i32
}

// The stride of a unit dimension is ignored.
func.func @units(%m: memref<1x4x1xi8, strided<[7, 2, 3]>>, %s: memref<1x1xi8>, %i: index) -> (i8, i8) {
  %0 = memref.collapse_shape %m [[0, 1, 2]] : memref<1x4x1xi8, strided<[7, 2, 3]>> into memref<4xi8, strided<[2]>>
  %1 = memref.load %0[%i] : memref<4xi8, strided<[2]>>
  %2 = memref.collapse_shape %s [] {note} : memref<1x1xi8> into memref<i8>
  %3 = memref.load %2[] : memref<i8>
  return %1, %3 : i8, i8
}

func.func @expand(%m: memref<12x?xf32>, %n: index, %k: index, %i: index) -> f32 {
  %0 = memref.expand_shape %m [[0, 1, 2], [3, 4]] output_shape [2, 3, 2, %n, %k] : memref<12x?xf32> into memref<2x3x2x?x?xf32>
  %1 = memref.load %0[%i, %i, %i, %i, %i] : memref<2x3x2x?x?xf32>
  return %1 : f32
}

func.func @expand_gaps(%m: memref<6xi16, strided<[3], offset: 1>>, %s: memref<i16>, %i: index) -> (i16, i16) {
  %c0 = arith.constant 0 : index
  %0 = memref.expand_shape %m [[0, 1]] output_shape [2, 3] {note} : memref<6xi16, strided<[3], offset: 1>> into memref<2x3xi16, strided<[9, 3], offset: 1>>
  %1 = memref.load %0[%i, %i] : memref<2x3xi16, strided<[9, 3], offset: 1>>
  %2 = memref.expand_shape %s [] output_shape [1, 1] : memref<i16> into memref<1x1xi16>
  %3 = memref.load %2[%c0, %c0] : memref<1x1xi16>
  return %1, %3 : i16, i16
}
