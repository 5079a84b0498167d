// RUN: gradus opt %s --affine-loop-unroll="unroll-factor=3 cleanup-unroll"

// Where an epilogue loop would be needed, the iterations left over are unrolled too.
func.func @not_divisible(%x: index) -> (index, index) {
  %0 = affine.for %i = 0 to 4 iter_args(%a = %x) -> (index) {
    %2 = arith.addi %a, %i : index
    affine.yield %2 : index
  }
  %1 = affine.for %i = 0 to 2 iter_args(%a = %x) -> (index) {
    %2 = arith.addi %a, %i : index
    affine.yield %2 : index
  }
  return %0, %1 : index, index
}

func.func @divisible(%x: index) -> index {
  %0 = affine.for %i = 0 to 6 iter_args(%a = %x) -> (index) {
    %1 = arith.addi %a, %i : index
    affine.yield %1 : index
  }
  return %0 : index
}

// Not where the number of iterations left over is unknown.
func.func @unknown(%n: i4, %x: index) -> index {
  %end = arith.index_cast %n : i4 to index
  %0 = affine.for %i = 0 to %end iter_args(%a = %x) -> (index) {
    %1 = arith.addi %a, %i : index
    affine.yield %1 : index
  }
  return %0 : index
}
