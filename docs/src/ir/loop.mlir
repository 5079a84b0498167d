func.func @main() -> index {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c10 = arith.constant 10 : index
  %sum = scf.for %i = %c0 to %c10 step %c1 iter_args(%acc = %c0) -> (index) {
    %square = arith.muli %i, %i : index
    %next = arith.addi %acc, %square : index
    scf.yield %next : index
  }
  return %sum : index
}
