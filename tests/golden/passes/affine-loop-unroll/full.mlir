// RUN: gradus opt %s --affine-loop-unroll=unroll-factor=-1

func.func @all(%x: index) -> index {
  %0 = affine.for %i = 1 to 6 iter_args(%a = %x) -> (index) {
    %1 = arith.muli %a, %i : index
    affine.yield %1 : index
  }
  return %0 : index
}

func.func @none_and_one(%x: index) -> (index, index) {
  %0 = affine.for %i = 6 to 1 iter_args(%a = %x) -> (index) {
    %2 = arith.muli %a, %i : index
    affine.yield %2 : index
  }
  %1 = affine.for %i = 6 to 7 iter_args(%a = %x) -> (index) {
    %2 = arith.muli %a, %i : index
    affine.yield %2 : index
  }
  return %0, %1 : index, index
}

// Only innermost loops are unrolled.
func.func @nested(%m: memref<4x4xindex>) {
  affine.for %i = 0 to 4 {
    affine.for %j = 0 to 4 step 2 {
      affine.store %i, %m[%i, %j] : memref<4x4xindex>
    }
  }
  return
}

func.func @unknown(%n: i4, %x: index) -> index {
  %end = arith.index_cast %n : i4 to index
  %0 = affine.for %i = 0 to %end iter_args(%a = %x) -> (index) {
    %1 = arith.addi %a, %i : index
    affine.yield %1 : index
  }
  return %0 : index
}

// The trip count is above the limit.
func.func @large(%x: index) -> index {
  %0 = affine.for %i = 0 to 9000000000000000000 iter_args(%a = %x) -> (index) {
    %1 = arith.addi %a, %i : index
    affine.yield %1 : index
  }
  return %0 : index
}
