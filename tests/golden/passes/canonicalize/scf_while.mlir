// RUN: gradus opt %s --canonicalize

// The condition is true in the "after" region.
func.func @condition(%a: i32) -> (i32, i1) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %mask = arith.constant 7 : i32
  %start = arith.andi %a, %mask : i32
  %0:2 = scf.while (%x = %start) : (i32) -> (i32, i1) {
    %more = arith.cmpi sgt, %x, %c0 : i32
    scf.condition(%more) %x, %more : i32, i1
  } do {
  ^bb0(%x: i32, %holds: i1):
    cf.assert %holds, "always"
    %1 = arith.subi %x, %c1 : i32
    scf.yield %1 : i32
  }
  return %0#0, %0#1 : i32, i1
}

// Comparisons implied by the condition are true there, and their negations false.
func.func @comparison(%a: i32, %b: i32) -> i32 {
  %c3 = arith.constant 3 : i32
  %c5 = arith.constant 5 : i32
  %mask = arith.constant 7 : i32
  %start = arith.andi %a, %mask : i32
  %end = arith.andi %b, %mask : i32
  %0 = scf.while (%x = %start) : (i32) -> i32 {
    %more = arith.cmpi slt, %x, %end : i32
    scf.condition(%more) %x : i32
  } do {
  ^bb0(%x: i32):
    %same = arith.cmpi slt, %x, %end : i32
    %opposite = arith.cmpi sge, %x, %end : i32
    %other = arith.cmpi sgt, %x, %c3 : i32
    %1 = arith.select %same, %c3, %c5 : i32
    %2 = arith.select %opposite, %c5, %1 : i32
    %3 = arith.select %other, %c5, %2 : i32
    %4 = arith.addi %x, %3 : i32
    scf.yield %4 : i32
  }
  return %0 : i32
}

// An `scf.if` on the condition at the end of the "before" region moves to the start of the "after" region.
func.func @move_if(%a: i32, %c: i1) -> i32 {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %mask = arith.constant 7 : i32
  %start = arith.andi %a, %mask : i32
  %0 = scf.while (%x = %start) : (i32) -> i32 {
    %more = arith.cmpi sgt, %x, %c0 : i32
    scf.if %more {
      cf.assert %c, "if there is more"
    }
    scf.condition(%more) %x : i32
  } do {
  ^bb0(%x: i32):
    %1 = arith.subi %x, %c1 : i32
    scf.yield %1 : i32
  }
  return %0 : i32
}

func.func @move_if_with_results(%a: i32, %b: i32, %c: i1) -> (i32, i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %mask = arith.constant 7 : i32
  %start = arith.andi %a, %mask : i32
  %0:2 = scf.while (%x = %start, %y = %b) : (i32, i32) -> (i32, i32) {
    %more = arith.cmpi sgt, %x, %c0 : i32
    %double = arith.muli %y, %x : i32
    %1 = scf.if %more -> i32 {
      cf.assert %c, "if there is more"
      %2 = arith.subi %double, %x : i32
      scf.yield %2 : i32
    } else {
      scf.yield %y : i32
    }
    scf.condition(%more) %1, %x : i32, i32
  } do {
  ^bb0(%y: i32, %x: i32):
    %3 = arith.subi %x, %c1 : i32
    %4 = arith.muli %y, %x : i32
    scf.yield %3, %4 : i32, i32
  }
  return %0#0, %0#1 : i32, i32
}

// Not if the else branch has effects.
func.func @keep_if(%a: i32, %c: i1) -> i32 {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %mask = arith.constant 7 : i32
  %start = arith.andi %a, %mask : i32
  %0 = scf.while (%x = %start) : (i32) -> i32 {
    %more = arith.cmpi sgt, %x, %c0 : i32
    scf.if %more {
      cf.assert %c, "if there is more"
    } else {
      %odd = arith.cmpi eq, %start, %c1 : i32
      cf.assert %odd, "otherwise"
    }
    scf.condition(%more) %x : i32
  } do {
  ^bb0(%x: i32):
    %1 = arith.subi %x, %c1 : i32
    scf.yield %1 : i32
  }
  return %0 : i32
}
