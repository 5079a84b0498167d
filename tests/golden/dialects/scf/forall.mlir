// RUN: gradus opt %s

func.func @bounds(%n: index, %c: i1) {
  %mask = arith.constant 3 : index
  %end = arith.andi %n, %mask : index
  scf.forall (%i, %j) in (%end, 4) {
    cf.assert %c, "in every iteration"
  }
  scf.forall (%i, %j) = (0, %end) to (8, %end) step (%end, 1) {
    cf.assert %c, "in no iteration"
    scf.forall.in_parallel {
    }
  }
  scf.forall (%i) = (0) to (2) step (1) {
    cf.assert %c, "counts from 0 by 1"
  } {mapping = [#gpu.thread<x>], note}
  scf.forall () in () {
    cf.assert %c, "once"
  }
  return
}

func.func @generic(%n: index) {
  "scf.forall"(%n) <{operandSegmentSizes = array<i32: 0, 1, 0, 0>, staticLowerBound = array<i64: 1>, staticStep = array<i64: 2>, staticUpperBound = array<i64: -9223372036854775808>}> ({
  ^bb0(%i: index):
    "scf.forall.in_parallel"() ({
    ^bb0:
    }) : () -> ()
  }) : (index) -> ()
  return
}
