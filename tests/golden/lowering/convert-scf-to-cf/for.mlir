// RUN: gradus opt %s --convert-scf-to-cf

func.func @sum(%n: index, %init: index) -> index {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %mask = arith.constant 15 : index
  %end = arith.andi %n, %mask : index
  %sum = scf.for %i = %c0 to %end step %c2 iter_args(%acc = %init) -> (index) {
    %next = arith.addi %acc, %i : index
    scf.yield %next : index
  }
  return %sum : index
}

func.func @bare_result_type(%n: index, %x: f32) -> f32 {
  %c0 = arith.constant 0 : index
  %c5 = arith.constant 5 : index
  %0 = scf.for %i = %c0 to %c5 step %c5 iter_args(%acc = %x) -> f32 {
    %1 = arith.mulf %acc, %x : f32
    scf.yield %1 : f32
  } {note = "kept"}
  return %0 : f32
}

// Bounds of an integer type, compared as signed and as unsigned; a step below 1 is UB.
func.func @signs(%lb: i8, %ub: i8) -> (i8, i8) {
  %c40 = arith.constant 40 : i8
  %c0 = arith.constant 0 : i8
  %c1 = arith.constant 1 : i8
  %signed = scf.for %i = %lb to %ub step %c40 iter_args(%count = %c0) -> (i8) : i8 {
    %0 = arith.addi %count, %c1 : i8
    scf.yield %0 : i8
  }
  %unsigned = scf.for unsigned %i = %lb to %ub step %c40 iter_args(%count = %c0) -> (i8) : i8 {
    %0 = arith.addi %count, %c1 : i8
    scf.yield %0 : i8
  }
  return %signed, %unsigned : i8, i8
}

func.func @step(%lb: i8, %ub: i8, %step: i8) -> i8 {
  %c0 = arith.constant 0 : i8
  %0 = scf.for %i = %lb to %ub step %step iter_args(%last = %c0) -> (i8) : i8 {
    scf.yield %i : i8
  }
  return %0 : i8
}

// Two loop-carried values are swapped in each iteration.
func.func @swap(%n: index, %x: i32, %y: i32) -> (i32, i32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %mask = arith.constant 7 : index
  %end = arith.andi %n, %mask : index
  %0:2 = scf.for %i = %c0 to %end step %c1 iter_args(%a = %x, %b = %y) -> (i32, i32) {
    scf.yield %b, %a : i32, i32
  }
  return %0#0, %0#1 : i32, i32
}

func.func @no_results(%n: index, %c: i1) {
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : index
  scf.for %i = %c0 to %c3 step %c3 {
    scf.for unsigned %j = %c0 to %n step %c3 {
      cf.assert %c, "inside"
    }
  }
  return
}
