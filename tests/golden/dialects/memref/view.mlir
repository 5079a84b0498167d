// RUN: gradus opt %s

// Bytes are read as wider elements, from a byte offset.
func.func @view(%bytes: memref<16xi8>, %shift: index, %n: index, %i: index) -> (i32, f16) {
  %0 = memref.view %bytes[%shift][] : memref<16xi8> to memref<2xi32>
  %1 = memref.load %0[%i] : memref<2xi32>
  %2 = memref.view %bytes[%shift][%n] {note} : memref<16xi8> to memref<?x2xf16>
  %3 = memref.load %2[%i, %i] : memref<?x2xf16>
  return %1, %3 : i32, f16
}

func.func @written(%bytes: memref<8xi8>, %shift: index, %v: i16, %w: i1) -> i8 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0 = memref.view %bytes[%shift][] : memref<8xi8> to memref<2xi16>
  memref.store %v, %0[%c1] : memref<2xi16>
  %1 = memref.view %bytes[%shift][] : memref<8xi8> to memref<4xi8>
  %2 = memref.load %1[%c1] : memref<4xi8>
  %3 = memref.view %1[%c1][] : memref<4xi8> to memref<1xi1>
  memref.store %w, %3[%c0] : memref<1xi1>
  return %2 : i8
}

// Uninitialized memory is poison in every element type.
func.func @unwritten(%v: i8) -> i16 {
  %c0 = arith.constant 0 : index
  %m = memref.alloca() : memref<4xi8>
  memref.store %v, %m[%c0] : memref<4xi8>
  %0 = memref.view %m[%c0][] : memref<4xi8> to memref<2xi16>
  %1 = memref.load %0[%c0] : memref<2xi16>
  return %1 : i16
}

// Sizes that are loaded from memory.
func.func @reshape(%m: memref<2x3xi32>, %i: index) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %k = arith.constant 3 : i32
  %n = arith.constant 2 : i32
  %shape = memref.alloca() : memref<2xi32>
  memref.store %k, %shape[%c0] : memref<2xi32>
  memref.store %n, %shape[%c1] : memref<2xi32>
  %0 = memref.reshape %m(%shape) : (memref<2x3xi32>, memref<2xi32>) -> memref<?x?xi32>
  %1 = memref.load %0[%i, %i] : memref<?x?xi32>
  return %1 : i32
}

func.func @reshape_unranked(%m: memref<*xf32>, %shape: memref<?xindex>) -> memref<*xf32> {
  %0 = memref.reshape %m(%shape) {note} : (memref<*xf32>, memref<?xindex>) -> memref<*xf32>
  return %0 : memref<*xf32>
}
