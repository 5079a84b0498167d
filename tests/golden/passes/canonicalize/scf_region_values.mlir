// RUN: gradus opt %s --canonicalize

// Loop-carried values that do not change.
func.func @invariant(%n: index, %a: i32, %b: i32) -> (i32, i32, i32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %mask = arith.constant 3 : index
  %end = arith.andi %n, %mask : index
  %0:3 = scf.for %i = %c0 to %end step %c1 iter_args(%x = %a, %y = %a, %z = %b) -> (i32, i32, i32) {
    %1 = arith.muli %y, %z : i32
    %2 = arith.addi %1, %x : i32
    scf.yield %x, %2, %z : i32, i32, i32
  }
  return %0#0, %0#1, %0#2 : i32, i32, i32
}

// Loop-carried values that are permuted and have equal initial values.
func.func @swapped(%n: index, %a: i32) -> (i32, i32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %mask = arith.constant 3 : index
  %end = arith.andi %n, %mask : index
  %0:2 = scf.for %i = %c0 to %end step %c1 iter_args(%x = %a, %y = %a) -> (i32, i32) {
    scf.yield %y, %x : i32, i32
  }
  return %0#0, %0#1 : i32, i32
}

// Two loop-carried values that are always equal.
func.func @twice(%n: index, %a: i32) -> (i32, i32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %mask = arith.constant 3 : index
  %end = arith.andi %n, %mask : index
  %0:2 = scf.for %i = %c0 to %end step %c1 iter_args(%x = %a, %y = %a) -> (i32, i32) {
    %1 = arith.muli %x, %y : i32
    scf.yield %1, %1 : i32, i32
  }
  return %0#0, %0#1 : i32, i32
}

// Unused results, and the loop-carried values that only they need.
func.func @unused(%n: index, %a: i32, %b: i32) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %mask = arith.constant 3 : index
  %end = arith.andi %n, %mask : index
  %0:3 = scf.for %i = %c0 to %end step %c1 iter_args(%x = %a, %y = %b, %z = %b) -> (i32, i32, i32) {
    %1 = arith.addi %x, %a : i32
    %2 = arith.muli %x, %b : i32
    scf.yield %1, %2, %y : i32, i32, i32
  }
  return %0#0 : i32
}

func.func @through_both_regions(%a: i32, %b: i32) -> (i32, i32) {
  %mask = arith.constant 7 : i32
  %start = arith.andi %a, %mask : i32
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %0:3 = scf.while (%x = %start, %y = %b, %unused = %a) : (i32, i32, i32) -> (i32, i32, i32) {
    %more = arith.cmpi sgt, %x, %c0 : i32
    scf.condition(%more) %x, %y, %x : i32, i32, i32
  } do {
  ^bb0(%x: i32, %y: i32, %z: i32):
    %1 = arith.subi %x, %c1 : i32
    %2 = arith.muli %z, %y : i32
    scf.yield %1, %y, %2 : i32, i32, i32
  }
  return %0#0, %0#1 : i32, i32
}

func.func @of_branches(%c: i1, %d: i1, %a: i32, %b: i32) -> (i32, i32, i32) {
  %0:4 = scf.if %c -> (i32, i32, i32, i32) {
    cf.assert %d, "then"
    %1 = arith.muli %a, %b : i32
    scf.yield %a, %1, %1, %1 : i32, i32, i32, i32
  } else {
    %1 = arith.subi %a, %b : i32
    scf.yield %a, %1, %1, %b : i32, i32, i32, i32
  }
  return %0#0, %0#1, %0#2 : i32, i32, i32
}

func.func @of_cases(%i: index, %a: i32, %b: i32, %c: i1) -> (i32, i32) {
  %0:3 = scf.index_switch %i -> i32, i32, i32
  case 1 {
    %1 = arith.muli %a, %b : i32
    cf.assert %c, "one"
    scf.yield %a, %1, %b : i32, i32, i32
  }
  default {
    scf.yield %a, %b, %a : i32, i32, i32
  }
  return %0#0, %0#1 : i32, i32
}

func.func @of_blocks(%c: i1, %a: i32, %b: i32) -> (i32, i32) {
  %0:3 = scf.execute_region -> (i32, i32, i32) no_inline {
    cf.cond_br %c, ^one, ^two
  ^one:
    %1 = arith.muli %a, %b : i32
    scf.yield %1, %a, %b : i32, i32, i32
  ^two:
    scf.yield %b, %a, %a : i32, i32, i32
  }
  return %0#0, %0#1 : i32, i32
}
