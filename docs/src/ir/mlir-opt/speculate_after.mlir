module {
  func.func @split(%arg0: tensor<?xf32>, %arg1: index, %arg2: index, %arg3: index) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %expanded = tensor.expand_shape %arg0 [[0, 1]] output_shape [%arg2, 4] : tensor<?xf32> into tensor<?x4xf32>
    scf.for %arg4 = %c0 to %arg1 step %c1 {
    }
    return
  }
}

