func.func @sum(%n: index, %c: index) -> index {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %c0) -> (index) {
    %b = arith.muli %i, %c : index
    %d = arith.addi %a, %b : index
    scf.yield %d : index
  }
  return %r : index
}
