// RUN: gradus opt %s --affine-loop-unroll="unroll-factor=-1 unroll-full-threshold=3"

// Loops with a trip count of at most 3 are fully unrolled, from the innermost outwards.
func.func @nested(%m: memref<4x4xindex>) {
  affine.for %i = 0 to 2 {
    affine.for %j = 0 to 3 {
      affine.store %i, %m[%i, %j] : memref<4x4xindex>
    }
    affine.for %j = 0 to 4 {
      affine.store %j, %m[%j, %i] : memref<4x4xindex>
    }
  }
  return
}

func.func @outer_is_long(%x: index) -> index {
  %0 = affine.for %i = 0 to 4 iter_args(%a = %x) -> (index) {
    %1 = affine.for %j = 0 to 2 iter_args(%b = %a) -> (index) {
      %2 = arith.addi %b, %j : index
      affine.yield %2 : index
    }
    affine.yield %1 : index
  }
  return %0 : index
}
