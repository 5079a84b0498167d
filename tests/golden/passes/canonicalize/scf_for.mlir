// RUN: gradus opt %s --canonicalize

func.func @never(%a: i32, %n: index) -> (i32, i32, i32) {
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %0 = scf.for %i = %c3 to %c2 step %n iter_args(%x = %a) -> i32 {
    %y = arith.addi %x, %x : i32
    scf.yield %y : i32
  }
  %1 = scf.for %i = %n to %n step %c2 iter_args(%x = %a) -> i32 {
    %y = arith.addi %x, %x : i32
    scf.yield %y : i32
  }
  %below = arith.constant -1 : i8
  %c1 = arith.constant 1 : i8
  %2 = scf.for unsigned %i = %below to %c1 step %c1 iter_args(%x = %a) -> (i32) : i8 {
    %y = arith.addi %x, %x : i32
    scf.yield %y : i32
  }
  return %0, %1, %2 : i32, i32, i32
}

func.func @once(%a: i32, %n: index, %c: i1) -> (i32, i32, i32) {
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c8 = arith.constant 8 : index
  %0 = scf.for %i = %c2 to %c3 step %c8 iter_args(%x = %a) -> i32 {
    cf.assert %c, "once"
    %j = arith.index_cast %i : index to i32
    %y = arith.addi %x, %j : i32
    scf.yield %y : i32
  }
  // The bound is the lower bound plus a constant, with `nsw`.
  %sum = arith.addi %n, %c2 overflow<nsw> : index
  %1 = scf.for %i = %n to %sum step %c3 iter_args(%x = %a) -> i32 {
    %j = arith.index_cast %i : index to i32
    %y = arith.addi %x, %j : i32
    scf.yield %y : i32
  }
  // Unsigned bounds, from 1 to 255.
  %b1 = arith.constant 1 : i8
  %b255 = arith.constant -1 : i8
  %2 = scf.for unsigned %i = %b1 to %b255 step %b255 iter_args(%x = %a) -> (i32) : i8 {
    %y = arith.muli %x, %x : i32
    scf.yield %y : i32
  }
  return %0, %1, %2 : i32, i32, i32
}

// Loops that only yield invariant values.
func.func @constant_body(%a: i32, %b: i32, %n: index) -> (i32, i32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %0 = scf.for %i = %c0 to %c9 step %c1 iter_args(%x = %a) -> i32 {
    scf.yield %b : i32
  }
  %mask = arith.constant 3 : index
  %end = arith.andi %n, %mask : index
  %1 = scf.for %i = %c0 to %end step %c1 iter_args(%x = %a) -> i32 {
    scf.yield %b : i32
  }
  return %0, %1 : i32, i32
}

func.func @no_effect(%n: index) {
  %c0 = arith.constant 0 : index
  scf.for %i = %c0 to %n step %n {
    %0 = arith.addi %i, %i : index
  }
  return
}
