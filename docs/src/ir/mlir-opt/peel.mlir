func.func @count(%lb: index, %ub: index, %step: index) -> index {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = scf.for %i = %lb to %ub step %step iter_args(%k = %c0) -> (index) {
    %next = arith.addi %k, %c1 : index
    scf.yield %next : index
  }
  return %n : index
}
