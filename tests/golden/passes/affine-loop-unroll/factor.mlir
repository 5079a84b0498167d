// RUN: gradus opt %s --affine-loop-unroll

// With an epilogue loop.
func.func @not_divisible(%x: index) -> index {
  %0 = affine.for %i = 0 to 10 iter_args(%a = %x) -> (index) {
    %1 = arith.addi %a, %i : index
    affine.yield %1 : index
  }
  return %0 : index
}

// One unrolled iteration and one left over: no loop remains.
func.func @five(%x: index) -> index {
  %0 = affine.for %i = 2 to 11 step 2 iter_args(%a = %x) -> (index) {
    %1 = arith.muli %a, %i : index
    affine.yield %1 : index
  }
  return %0 : index
}

func.func @divisible(%x: index) -> index {
  %0 = affine.for %i = -4 to 20 step 3 iter_args(%a = %x) -> (index) {
    %1 = arith.xori %a, %i : index
    affine.yield %1 : index
  }
  return %0 : index
}

// Trip counts below the factor, 1, and 0.
func.func @few(%x: index) -> (index, index, index, index) {
  %0 = affine.for %i = 0 to 3 iter_args(%a = %x) -> (index) {
    %4 = arith.addi %a, %i : index
    affine.yield %4 : index
  }
  %1 = affine.for %i = 7 to 8 iter_args(%a = %x) -> (index) {
    %4 = arith.addi %a, %i : index
    affine.yield %4 : index
  }
  %2 = affine.for %i = 3 to 3 iter_args(%a = %x) -> (index) {
    %4 = arith.addi %a, %i : index
    affine.yield %4 : index
  }
  %3 = affine.for %i = 3 to -9 iter_args(%a = %x) -> (index) {
    %4 = arith.addi %a, %i : index
    affine.yield %4 : index
  }
  return %0, %1, %2, %3 : index, index, index, index
}

// Loop-carried values are swapped, and one is defined outside.
func.func @carried(%x: index, %y: index) -> (index, index, index) {
  %0:3 = affine.for %i = 0 to 9 iter_args(%a = %x, %b = %x, %c = %x) -> (index, index, index) {
    %1 = arith.addi %a, %i : index
    affine.yield %b, %1, %y : index, index, index
  }
  return %0#0, %0#1, %0#2 : index, index, index
}

// The induction variable is not used.
func.func @no_variable(%x: index) -> index {
  %0 = affine.for %i = 0 to 6 iter_args(%a = %x) -> (index) {
    %1 = arith.muli %a, %x : index
    affine.yield %1 : index
  }
  return %0 : index
}

// Only the innermost loop is unrolled, with its nested regions.
func.func @nested(%x: index) -> index {
  %0 = affine.for %i = 0 to 3 iter_args(%a = %x) -> (index) {
    %1 = affine.for %j = 0 to 5 iter_args(%b = %a) -> (index) {
      %2 = affine.if affine_set<(d0, d1) : (d0 - d1 >= 0)>(%i, %j) -> index {
        %3 = arith.addi %b, %j : index
        affine.yield %3 : index
      } else {
        affine.yield %b : index
      }
      affine.yield %2 : index
    }
    affine.yield %1 : index
  }
  return %0 : index
}

func.func @memory(%m: memref<16xindex>) {
  affine.for %i = 0 to 13 {
    %0 = affine.load %m[%i + 1] : memref<16xindex>
    %1 = arith.addi %0, %i : index
    affine.store %1, %m[%i] : memref<16xindex>
  }
  return
}

// A loop with an empty body stays.
func.func @empty() {
  affine.for %i = 0 to 8 {
  }
  return
}
