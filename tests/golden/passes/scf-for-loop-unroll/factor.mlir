// RUN: gradus opt %s --scf-for-loop-unroll

func.func @not_divisible(%x: index) -> index {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c10 = arith.constant 10 : index
  %0 = scf.for %i = %c0 to %c10 step %c1 iter_args(%a = %x) -> (index) {
    %1 = arith.addi %a, %i : index
    scf.yield %1 : index
  }
  return %0 : index
}

// The last step is partial, and no loop remains.
func.func @divisible(%x: i32) -> i32 {
  %c2 = arith.constant 2 : i32
  %c3 = arith.constant 3 : i32
  %c13 = arith.constant 13 : i32
  %0 = scf.for %i = %c2 to %c13 step %c3 iter_args(%a = %x) -> (i32) : i32 {
    %1 = arith.muli %a, %i : i32
    scf.yield %1 : i32
  }
  return %0 : i32
}

// Trip counts below the factor, 1, and 0.
func.func @few(%x: index) -> (index, index, index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %0 = scf.for %i = %c0 to %c3 step %c1 iter_args(%a = %x) -> (index) {
    %3 = arith.addi %a, %i : index
    scf.yield %3 : index
  }
  %1 = scf.for %i = %c1 to %c3 step %c3 iter_args(%a = %x) -> (index) {
    %3 = arith.addi %a, %i : index
    scf.yield %3 : index
  }
  %2 = scf.for %i = %c3 to %c0 step %c1 iter_args(%a = %x) -> (index) {
    %3 = arith.addi %a, %i : index
    scf.yield %3 : index
  }
  return %0, %1, %2 : index, index, index
}

// Loop-carried values are swapped, and one is defined outside.
func.func @carried(%x: index, %y: index) -> (index, index, index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %0:3 = scf.for %i = %c0 to %c9 step %c1 iter_args(%a = %x, %b = %x, %c = %x) -> (index, index, index) {
    %1 = arith.addi %a, %i : index
    scf.yield %b, %1, %y : index, index, index
  }
  return %0#0, %0#1, %0#2 : index, index, index
}

// From 1 to 255 (-1 as signed): the signed loop has trip count 0, the unsigned one has not.
func.func @unsigned(%x: i32) -> (i32, i32) {
  %c1 = arith.constant 1 : i8
  %c50 = arith.constant 50 : i8
  %c255 = arith.constant -1 : i8
  %0 = scf.for unsigned %i = %c1 to %c255 step %c50 iter_args(%a = %x) -> (i32) : i8 {
    %2 = arith.extui %i : i8 to i32
    %3 = arith.addi %a, %2 : i32
    scf.yield %3 : i32
  }
  %1 = scf.for %i = %c1 to %c255 step %c50 iter_args(%a = %x) -> (i32) : i8 {
    %2 = arith.extui %i : i8 to i32
    %3 = arith.addi %a, %2 : i32
    scf.yield %3 : i32
  }
  return %0, %1 : i32, i32
}

// Four times the step would overflow the type.
func.func @long_steps(%x: i32) -> i32 {
  %c-100 = arith.constant -100 : i8
  %c40 = arith.constant 40 : i8
  %c127 = arith.constant 127 : i8
  %0 = scf.for %i = %c-100 to %c127 step %c40 iter_args(%a = %x) -> (i32) : i8 {
    %1 = arith.extsi %i : i8 to i32
    %2 = arith.addi %a, %1 : i32
    scf.yield %2 : i32
  }
  return %0 : i32
}

func.func @nested(%m: memref<4x4xindex>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  scf.for %i = %c0 to %c4 step %c1 {
    scf.for %j = %c0 to %c4 step %c1 {
      %0 = arith.addi %i, %j : index
      memref.store %0, %m[%i, %j] : memref<4x4xindex>
    }
    scf.for %j = %c0 to %c4 step %c1 {
    }
  }
  return
}
