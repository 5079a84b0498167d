// RUN: gradus opt %s --affine-loop-unroll="unroll-factor=6 unroll-up-to-factor"

// Loops with a lower trip count are fully unrolled; one with trip count 0 stays.
func.func @few(%x: index) -> (index, index, index) {
  %0 = affine.for %i = 0 to 3 iter_args(%a = %x) -> (index) {
    %3 = arith.addi %a, %i : index
    affine.yield %3 : index
  }
  %1 = affine.for %i = 3 to 0 iter_args(%a = %x) -> (index) {
    %3 = arith.addi %a, %i : index
    affine.yield %3 : index
  }
  %2 = affine.for %i = 0 to 7 iter_args(%a = %x) -> (index) {
    %3 = arith.addi %a, %i : index
    affine.yield %3 : index
  }
  return %0, %1, %2 : index, index, index
}
