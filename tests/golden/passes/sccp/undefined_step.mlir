// RUN: gradus opt %s --sccp

// A loop whose step is found to be negative is undefined behavior, and goes, since the verifier rejects it.
func.func @negative(%c: i1, %n: index) {
  %zero = arith.constant 0 : index
  %step = scf.if %c -> index {
    %minus = arith.constant -1 : index
    scf.yield %minus : index
  } else {
    %minus = arith.constant -1 : index
    scf.yield %minus : index
  }
  scf.parallel (%i) = (%zero) to (%n) step (%step) {
  }
  return
}
