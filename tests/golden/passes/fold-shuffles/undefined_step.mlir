// RUN: gradus opt %s --fold-shuffles

// Folding shows that a step is 0: the loop is undefined behavior, and goes, since the verifier rejects it. So does the
// loop that is undefined behavior because of it, within another loop.
func.func @chain(%n: index, %init: index) -> index {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %step = arith.subi %one, %one : index
  %0 = scf.parallel (%i) = (%zero) to (%n) step (%step) init (%zero) -> index {
    scf.reduce(%i : index) {
    ^bb0(%a: index, %b: index):
      %sum = arith.addi %a, %b : index
      scf.reduce.return %sum : index
    }
  }
  %1 = scf.for %k = %zero to %n step %one iter_args(%carried = %init) -> index {
    %2 = scf.parallel (%i) = (%zero) to (%n) step (%0) init (%carried) -> index {
      scf.reduce(%i : index) {
      ^bb0(%a: index, %b: index):
        %sum = arith.addi %a, %b : index
        scf.reduce.return %sum : index
      }
    }
    scf.yield %2 : index
  }
  return %1 : index
}
