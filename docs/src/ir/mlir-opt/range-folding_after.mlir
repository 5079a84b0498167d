module {
  func.func @sum(%arg0: index, %arg1: index) -> index {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %0 = arith.muli %c0, %arg1 : index
    %1 = arith.muli %arg0, %arg1 : index
    %2 = arith.muli %c1, %arg1 : index
    %3 = scf.for %arg2 = %0 to %1 step %2 iter_args(%arg3 = %c0) -> (index) {
      %4 = arith.addi %arg3, %arg2 : index
      scf.yield %4 : index
    }
    return %3 : index
  }
}

