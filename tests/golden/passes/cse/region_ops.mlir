// RUN: gradus opt %s --cse

// Equal ops with regions are merged, also across blocks that the first dominates.
func.func @equal(%c: i1, %a: i32, %b: i32) -> (i32, i32, i32) {
  %0 = scf.if %c -> i32 {
    %x = arith.addi %a, %b : i32
    scf.yield %x : i32
  } else {
    scf.yield %b : i32
  }
  cf.br ^next
^next:
  %1 = scf.if %c -> i32 {
    %x = arith.addi %a, %b : i32
    scf.yield %x : i32
  } else {
    scf.yield %b : i32
  }
  %2 = scf.if %c -> i32 {
    %x = arith.addi %a, %b : i32
    scf.yield %x : i32
  } else {
    scf.yield %a : i32
  }
  return %0, %1, %2 : i32, i32, i32
}

func.func @effects(%c: i1, %d: i1, %a: i32, %b: i32) -> (i32, i32) {
  %0 = scf.if %c -> i32 {
    cf.assert %d, "seen"
    scf.yield %a : i32
  } else {
    scf.yield %b : i32
  }
  %1 = scf.if %c -> i32 {
    cf.assert %d, "seen"
    scf.yield %a : i32
  } else {
    scf.yield %b : i32
  }
  return %0, %1 : i32, i32
}

func.func @dead(%n: index) {
  scf.for %i = %n to %n step %n {
    %0 = arith.addi %i, %n : index
  }
  return
}
