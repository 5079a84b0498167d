// RUN: gradus opt %s --scf-parallel-loop-tiling=parallel-loop-tile-sizes=2,3

// Full tiles in the first dimension, a partial tile in the second, no tile size for the third.
func.func @constant(%m: memref<4x5x2xindex>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %c5 = arith.constant 5 : index
  scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%c4, %c5, %c2) step (%c1, %c1, %c1) {
    %0 = arith.addi %i, %j : index
    memref.store %0, %m[%i, %j, %k] : memref<4x5x2xindex>
  }
  return
}

func.func @unknown(%m: memref<16xindex>, %a: i4, %b: i4, %s: i2) {
  %lower = arith.index_castui %a : i4 to index
  %upper = arith.index_castui %b : i4 to index
  %step = arith.index_castui %s : i2 to index
  scf.parallel (%i) = (%lower) to (%upper) step (%step) {
    memref.store %i, %m[%i] : memref<16xindex>
  }
  return
}

// Only the innermost loop is tiled; a loop with trip count 0; an empty loop.
func.func @nested(%m: memref<4x4xindex>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  scf.parallel (%i) = (%c0) to (%c4) step (%c1) {
    scf.parallel (%j) = (%c0) to (%c4) step (%c1) {
      memref.store %j, %m[%i, %j] : memref<4x4xindex>
    }
  }
  scf.parallel (%i) = (%c4) to (%c0) step (%c1) {
    memref.store %i, %m[%i, %i] : memref<4x4xindex>
  }
  scf.parallel (%i) = (%c1) to (%c4) step (%c1) {
  }
  return
}

// A loop with reductions stays.
func.func @reduces(%x: index) -> index {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %0 = scf.parallel (%i) = (%c0) to (%c4) step (%c1) init (%x) -> index {
    scf.reduce(%i : index) {
    ^bb0(%a: index, %b: index):
      %1 = arith.addi %a, %b : index
      scf.reduce.return %1 : index
    }
  }
  return %0 : index
}
