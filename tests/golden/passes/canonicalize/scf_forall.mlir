// RUN: gradus opt %s --canonicalize

func.func @known_bounds(%n: index, %c: i1) {
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c8 = arith.constant 8 : index
  scf.forall (%i, %j) = (%c2, %n) to (%c8, 4) step (%c3, %c2) {
    cf.assert %c, "inside"
  }
  return
}

func.func @dimensions_that_run_once(%n: index, %c: i1) {
  %mask = arith.constant 7 : index
  %end = arith.andi %n, %mask : index
  scf.forall (%i, %j, %k) = (0, 1, 4) to (1, %end, 8) step (1, 1, 2) {
    %0 = arith.addi %i, %k : index
    %1 = arith.cmpi ne, %0, %j : index
    %2 = arith.ori %1, %c : i1
    cf.assert %2, "inside"
  }
  scf.forall (%i, %j) = (3, 4) to (4, 5) step (1, 1) {
    %0 = arith.cmpi ne, %i, %end : index
    %1 = arith.ori %0, %c : i1
    cf.assert %1, "once"
  }
  return
}

// Mapped dimensions are kept; the induction variable of a single iteration is replaced.
func.func @mapped(%n: index, %c: i1) {
  %mask = arith.constant 7 : index
  %end = arith.andi %n, %mask : index
  scf.forall (%i, %j) = (3, 1) to (4, %end) step (1, 1) {
    %0 = arith.cmpi ne, %i, %j : index
    %1 = arith.ori %0, %c : i1
    cf.assert %1, "inside"
  } {mapping = [#gpu.thread<x>, #gpu.thread<y>]}
  return
}

func.func @never(%n: index, %c: i1) {
  scf.forall (%i, %j) = (0, %n) to (8, %n) step (1, 1) {
    cf.assert %c, "never"
  }
  scf.forall (%i) in (0) {
    cf.assert %c, "never"
  }
  return
}

func.func @no_effect(%n: index) {
  scf.forall (%i) in (%n) {
    %0 = arith.addi %i, %n : index
  }
  return
}
