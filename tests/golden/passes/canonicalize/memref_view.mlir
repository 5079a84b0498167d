// RUN: gradus opt %s --canonicalize

func.func @identity(%m: memref<16xi8>) -> memref<16xi8> {
  %c0 = arith.constant 0 : index
  %0 = memref.view %m[%c0][] : memref<16xi8> to memref<16xi8>
  return %0 : memref<16xi8>
}

func.func @constant_sizes(%m: memref<64xi8>, %s: index, %n: index, %i: index) -> (i32, memref<?x?xi32>) {
  %c2 = arith.constant 2 : index
  %0 = memref.view %m[%s][%c2, %n] : memref<64xi8> to memref<?x?xi32>
  %1 = memref.load %0[%i, %i] : memref<?x?xi32>
  return %1, %0 : i32, memref<?x?xi32>
}

func.func @of_cast(%s: index, %i: index, %v: i16) -> i16 {
  %m = memref.alloc() : memref<64xi8>
  %0 = memref.cast %m : memref<64xi8> to memref<?xi8>
  %1 = memref.view %0[%s][] : memref<?xi8> to memref<4xi16>
  memref.store %v, %1[%i] : memref<4xi16>
  %2 = memref.load %1[%i] : memref<4xi16>
  return %2 : i16
}

// A view with a byte shift is not folded, even if most of it is out of bounds.
func.func @shifted(%m: memref<16xi8>, %i: index) -> i8 {
  %c1 = arith.constant 1 : index
  %0 = memref.view %m[%c1][] : memref<16xi8> to memref<16xi8>
  %1 = memref.load %0[%i] : memref<16xi8>
  return %1 : i8
}
