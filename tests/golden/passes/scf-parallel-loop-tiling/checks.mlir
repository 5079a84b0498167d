// RUN: gradus opt %s --scf-parallel-loop-tiling="parallel-loop-tile-sizes=2,3 no-min-max-bounds"

// Tiles have a fixed size, and a bounds check guards the body. Steps other than 1, and a negative lower bound.
func.func @constant(%m: memref<8x16xindex>) {
  %c-3 = arith.constant -3 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %c5 = arith.constant 5 : index
  scf.parallel (%i, %j) = (%c-3, %c2) to (%c4, %c5) step (%c3, %c2) {
    %0 = arith.addi %i, %c3 : index
    memref.store %i, %m[%0, %j] : memref<8x16xindex>
  }
  return
}

// All tiles are full: no bounds check.
func.func @full(%m: memref<4xindex>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  scf.parallel (%i) = (%c0) to (%c4) step (%c1) {
    memref.store %i, %m[%i] : memref<4xindex>
  }
  return
}

func.func @unknown(%m: memref<16xindex>, %a: i4, %b: i4) {
  %lower = arith.index_castui %a : i4 to index
  %upper = arith.index_castui %b : i4 to index
  %c2 = arith.constant 2 : index
  scf.parallel (%i) = (%lower) to (%upper) step (%c2) {
    memref.store %i, %m[%i] : memref<16xindex>
  }
  return
}
