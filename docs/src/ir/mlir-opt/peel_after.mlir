#map = affine_map<()[s0, s1, s2] -> (s1 - (s1 - s0) mod s2)>
module {
  func.func @count(%arg0: index, %arg1: index, %arg2: index) -> index {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %0 = affine.apply #map()[%arg0, %arg1, %arg2]
    %1 = scf.for %arg3 = %arg0 to %0 step %arg2 iter_args(%arg4 = %c0) -> (index) {
      %3 = arith.addi %arg4, %c1 : index
      scf.yield %3 : index
    }
    %2 = scf.for %arg3 = %0 to %arg1 step %arg2 iter_args(%arg4 = %1) -> (index) {
      %3 = arith.addi %arg4, %c1 : index
      scf.yield %3 : index
    }
    return %2 : index
  }
}

