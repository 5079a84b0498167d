// RUN: gradus opt %s --affine-loop-unroll="unroll-factor=2 unroll-num-reps=2"

// Unrolled twice by 2. The epilogue of the first time is a loop of its own.
func.func @twice(%x: index) -> index {
  %0 = affine.for %i = 0 to 11 iter_args(%a = %x) -> (index) {
    %1 = arith.addi %a, %i : index
    affine.yield %1 : index
  }
  return %0 : index
}

// When the inner loop is fully unrolled, the outer one becomes the innermost.
func.func @nested(%x: index) -> index {
  %0 = affine.for %i = 0 to 3 iter_args(%a = %x) -> (index) {
    %1 = affine.for %j = 0 to 2 iter_args(%b = %a) -> (index) {
      %2 = arith.addi %b, %j : index
      affine.yield %2 : index
    }
    affine.yield %1 : index
  }
  return %0 : index
}
