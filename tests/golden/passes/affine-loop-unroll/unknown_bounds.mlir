// RUN: gradus opt %s --affine-loop-unroll

// The trip count may be 0: the lower bound of the epilogue loop is at least that of the loop.
func.func @upper(%n: i8, %x: index) -> index {
  %end = arith.index_cast %n : i8 to index
  %0 = affine.for %i = 0 to %end iter_args(%a = %x) -> (index) {
    %1 = arith.addi %a, %i : index
    affine.yield %1 : index
  }
  return %0 : index
}

func.func @both(%n: i8, %m: i8, %x: index) -> index {
  %first = arith.index_cast %n : i8 to index
  %end = arith.index_cast %m : i8 to index
  %0 = affine.for %i = %first to %end step 3 iter_args(%a = %x) -> (index) {
    %1 = arith.muli %a, %i : index
    affine.yield %1 : index
  }
  return %0 : index
}

// The trip count is a multiple of the factor, or constant although the bounds are not.
func.func @multiple(%n: i8, %x: index) -> (index, index, index) {
  %end = arith.index_cast %n : i8 to index
  %0 = affine.for %i = 0 to affine_map<()[s0] -> (s0 * 8)>()[%end] iter_args(%a = %x) -> (index) {
    %3 = arith.addi %a, %i : index
    affine.yield %3 : index
  }
  %1 = affine.for %i = %end to affine_map<()[s0] -> (s0 + 6)>()[%end] iter_args(%a = %x) -> (index) {
    %3 = arith.addi %a, %i : index
    affine.yield %3 : index
  }
  %2 = affine.for %i = %end to affine_map<()[s0] -> (s0 - 6)>()[%end] iter_args(%a = %x) -> (index) {
    %3 = arith.addi %a, %i : index
    affine.yield %3 : index
  }
  return %0, %1, %2 : index, index, index
}

// Extents and induction variables are nonnegative.
func.func @not_negative(%m: memref<?xindex>, %x: index) -> index {
  %c0 = arith.constant 0 : index
  %n = memref.dim %m, %c0 : memref<?xindex>
  affine.for %i = 0 to %n {
    %3 = affine.load %m[%i] : memref<?xindex>
    %4 = arith.addi %3, %x : index
    affine.store %4, %m[%i] : memref<?xindex>
  }
  %0 = affine.for %i = 0 to 6 iter_args(%a = %x) -> (index) {
    %1 = affine.for %j = 0 to affine_map<(d0) -> (d0)>(%i) iter_args(%b = %a) -> (index) {
      %2 = arith.addi %b, %j : index
      affine.yield %2 : index
    }
    affine.yield %1 : index
  }
  return %0 : index
}

// Upper bound `min`: unrolled if the factor divides all results; otherwise the loop stays.
func.func @least(%n: i8, %m: i8, %x: index) -> (index, index) {
  %a = arith.index_cast %n : i8 to index
  %b = arith.index_cast %m : i8 to index
  %0 = affine.for %i = 0 to min affine_map<()[s0, s1] -> (s0 * 4, s1 * 8)>()[%a, %b] iter_args(%c = %x) -> (index) {
    %2 = arith.addi %c, %i : index
    affine.yield %2 : index
  }
  %1 = affine.for %i = 0 to min affine_map<()[s0, s1] -> (s0, s1 * 8)>()[%a, %b] iter_args(%c = %x) -> (index) {
    %2 = arith.addi %c, %i : index
    affine.yield %2 : index
  }
  return %0, %1 : index, index
}

// Lower bound `max`: not unrolled.
func.func @greatest(%n: i8, %x: index) -> index {
  %a = arith.index_cast %n : i8 to index
  %0 = affine.for %i = max affine_map<()[s0] -> (s0, 0)>()[%a] to 8 iter_args(%c = %x) -> (index) {
    %1 = arith.addi %c, %i : index
    affine.yield %1 : index
  }
  return %0 : index
}

// A single iteration at a lower bound that has to be computed.
func.func @once(%n: i8, %x: index) -> index {
  %a = arith.index_cast %n : i8 to index
  %0 = affine.for %i = affine_map<()[s0] -> (s0 * 2)>()[%a] to affine_map<()[s0] -> (s0 * 2 + 4)>()[%a] iter_args(%c = %x) -> (index) {
    %1 = arith.addi %c, %i : index
    affine.yield %1 : index
  }
  return %0 : index
}
