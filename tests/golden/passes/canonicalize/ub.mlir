// RUN: gradus opt %s --canonicalize

// Poison propagates, except from operands that are not selected.
func.func @spreads(%a: i32, %c: i1) -> (i32, i32, i1, f32, i32, i32, i32) {
  %p = ub.poison : i32
  %pc = ub.poison : i1
  %pf = ub.poison : f32
  %0 = arith.addi %a, %p : i32
  %1 = arith.divsi %a, %p : i32
  %2 = arith.cmpi eq, %a, %0 : i32
  %3 = arith.addf %pf, %pf : f32
  %4 = arith.select %c, %a, %p : i32
  %5 = arith.select %c, %p, %a : i32
  %6 = arith.select %pc, %a, %p : i32
  return %0, %1, %2, %3, %4, %5, %6 : i32, i32, i1, f32, i32, i32, i32
}

func.func @merged() -> (i32, i32, i64) {
  %0 = ub.poison : i32
  %1 = ub.poison : i32
  %2 = ub.poison : i64
  return %0, %1, %2 : i32, i32, i64
}

// Branches on poison stay.
func.func @control_flow(%a: i32) -> i32 {
  %pc = ub.poison : i1
  %0 = scf.if %pc -> i32 {
    %1 = arith.addi %a, %a : i32
    scf.yield %1 : i32
  } else {
    scf.yield %a : i32
  }
  return %0 : i32
}

// A select whose poison operand is not chosen is not poison.
func.func @selected(%a: i32, %b: i32, %c: i1) -> i32 {
  %p = ub.poison : i32
  %0 = scf.if %c -> i32 {
    scf.yield %a : i32
  } else {
    %1 = arith.addi %p, %b : i32
    scf.yield %1 : i32
  }
  %2 = arith.select %c, %0, %b : i32
  return %2 : i32
}
