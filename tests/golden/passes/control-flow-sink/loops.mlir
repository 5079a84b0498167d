// RUN: gradus opt %s --control-flow-sink

// Nothing is sunk into a region that may run more than once.
func.func private @use(index)
func.func @not_into_forall(%a: index, %n: index) {
  %0 = arith.addi %a, %n : index
  scf.forall (%i) in (%n) {
    func.call @use(%0) : (index) -> ()
  }
  return
}
func.func @not_into_parallel(%a: index, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0 = arith.addi %a, %n : index
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    func.call @use(%0) : (index) -> ()
  }
  return
}
func.func @into_condition(%a: index, %n: index, %c: i1) {
  %0 = arith.addi %a, %n : index
  scf.if %c {
    func.call @use(%0) : (index) -> ()
  }
  return
}
