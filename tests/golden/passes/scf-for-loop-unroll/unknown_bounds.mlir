// RUN: gradus opt %s --scf-for-loop-unroll=unroll-factor=3

// Unknown bounds: the trip count may be 0, and the distance may exceed the signed range.
func.func @bounds(%n: i8, %m: i8, %x: i32) -> i32 {
  %c5 = arith.constant 5 : i8
  %0 = scf.for %i = %n to %m step %c5 iter_args(%a = %x) -> (i32) : i8 {
    %1 = arith.extsi %i : i8 to i32
    %2 = arith.muli %a, %x : i32
    %3 = arith.addi %2, %1 : i32
    scf.yield %3 : i32
  }
  return %0 : i32
}

func.func @unsigned(%n: i8, %m: i8, %x: i32) -> i32 {
  %c5 = arith.constant 5 : i8
  %0 = scf.for unsigned %i = %n to %m step %c5 iter_args(%a = %x) -> (i32) : i8 {
    %1 = arith.extui %i : i8 to i32
    %2 = arith.muli %a, %x : i32
    %3 = arith.addi %2, %1 : i32
    scf.yield %3 : i32
  }
  return %0 : i32
}

// Unknown step: three times the step may overflow.
func.func @step(%n: i8, %m: i8, %s: i8, %x: i32) -> i32 {
  %0 = scf.for %i = %n to %m step %s iter_args(%a = %x) -> (i32) : i8 {
    %1 = arith.extsi %i : i8 to i32
    %2 = arith.muli %a, %x : i32
    %3 = arith.addi %2, %1 : i32
    scf.yield %3 : i32
  }
  return %0 : i32
}

func.func @unsigned_step(%n: i8, %m: i8, %s: i8, %x: i32) -> i32 {
  %0 = scf.for unsigned %i = %n to %m step %s iter_args(%a = %x) -> (i32) : i8 {
    %1 = arith.extui %i : i8 to i32
    %2 = arith.muli %a, %x : i32
    %3 = arith.addi %2, %1 : i32
    scf.yield %3 : i32
  }
  return %0 : i32
}

func.func @index(%n: index, %x: index) -> index {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %mask = arith.constant 31 : index
  %end = arith.andi %n, %mask : index
  %0 = scf.for %i = %c0 to %end step %c1 iter_args(%a = %x) -> (index) {
    %1 = arith.addi %a, %i : index
    scf.yield %1 : index
  }
  return %0 : index
}
