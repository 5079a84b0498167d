// RUN: gradus opt %s --canonicalize

// Bounds: constants are folded, ops that compute operands are composed, and redundant results are removed.
func.func @bounds(%n: index, %m: memref<64xindex>) {
  %c4 = arith.constant 4 : index
  %c9 = arith.constant 9 : index
  affine.for %i = %c4 to %c9 {
    affine.store %i, %m[%i] : memref<64xindex>
  }
  %twice = affine.apply affine_map<()[s0] -> (s0 * 2)>()[%n]
  affine.for %i = %twice to affine_map<()[s0] -> (s0 + 3)>()[%twice] {
    affine.store %i, %m[%i mod 64] : memref<64xindex>
  }
  affine.for %i = 0 to min affine_map<()[s0] -> (9, s0, 5, s0)>()[%n] {
    affine.store %i, %m[%i] : memref<64xindex>
  }
  affine.for %i = max affine_map<()[s0] -> (s0, -3, 2)>()[%c4] to 12 {
    affine.store %i, %m[%i] : memref<64xindex>
  }
  affine.for %i = 0 to 4 {
    affine.for %j = max affine_map<(d0) -> (d0, -1)>(%i) to min affine_map<(d0) -> (d0 + 60, 64)>(%i) {
      affine.store %j, %m[%j] : memref<64xindex>
    }
  }
  return
}

// Empty loops and loops with trip count 0.
func.func @empty(%n: index, %m: memref<4xindex>) {
  affine.for %i = 0 to %n {
  }
  affine.for %i = 4 to 2 {
    affine.store %i, %m[%i] : memref<4xindex>
  }
  return
}

func.func @never(%x: index) -> index {
  %0 = affine.for %i = 4 to 4 iter_args(%a = %x) -> (index) {
    %1 = arith.addi %a, %i : index
    affine.yield %1 : index
  }
  return %0 : index
}

// Loops that only yield iteration arguments or outer values.
func.func @known(%x: index, %y: index, %n: index) -> (index, index, index, index) {
  // Unchanged values, and one from outside.
  %0:2 = affine.for %i = 0 to 10 iter_args(%a = %x, %b = %y) -> (index, index) {
    affine.yield %a, %y : index, index
  }
  // Values are swapped once.
  %1:2 = affine.for %i = 0 to 1 iter_args(%a = %x, %b = %y) -> (index, index) {
    affine.yield %b, %a : index, index
  }
  return %0#0, %0#1, %1#0, %1#1 : index, index, index, index
}

// Not replaced: swapped more than once, or with an unknown trip count.
func.func @stays(%x: index, %y: index, %n: i4) -> (index, index, index) {
  %end = arith.index_cast %n : i4 to index
  %0:2 = affine.for %i = 0 to 3 iter_args(%a = %x, %b = %y) -> (index, index) {
    affine.yield %b, %a : index, index
  }
  %1 = affine.for %i = 0 to %end iter_args(%a = %x) -> (index) {
    affine.yield %y : index
  }
  return %0#0, %0#1, %1 : index, index, index
}
