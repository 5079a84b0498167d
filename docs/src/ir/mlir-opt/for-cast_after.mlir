module {
  func.func @last(%arg0: tensor<4xi32>, %arg1: index, %arg2: tensor<?xi32>) -> tensor<?xi32> {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %0 = scf.for %arg3 = %c0 to %arg1 step %c1 iter_args(%arg4 = %arg0) -> (tensor<4xi32>) {
      %cast_0 = tensor.cast %arg2 : tensor<?xi32> to tensor<4xi32>
      scf.yield %cast_0 : tensor<4xi32>
    }
    %cast = tensor.cast %0 : tensor<4xi32> to tensor<?xi32>
    return %cast : tensor<?xi32>
  }
}

