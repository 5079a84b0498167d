func.func @f(%x: tensor<6xf32>) -> tensor<f32> {
  %a = arith.constant dense<[0.0, 2.0, -0.0, -3.0, 0.0, 0.5]> : tensor<6xf32>
  %y = sparse.dot %a, %x : (tensor<6xf32>, tensor<6xf32>) -> tensor<f32>
  return %y : tensor<f32>
}

// -----

func.func @f(%x: tensor<6xf32>) -> tensor<f32> {
  %a = arith.constant dense<[0.0, 2.0, -0.0, -3.0, 0.0, 0.5]> : tensor<6xf32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c6 = arith.constant 6 : index
  %zero = arith.constant 0.0 : f32
  %start = arith.constant -0.0 : f32
  %r = scf.for %i = %c0 to %c6 step %c1 iter_args(%sum = %start) -> (f32) {
    %u = tensor.extract %a[%i] : tensor<6xf32>
    %v = tensor.extract %x[%i] : tensor<6xf32>
    %is_zero = arith.cmpf oeq, %u, %zero : f32
    %product = arith.mulf %u, %v : f32
    %more = arith.addf %sum, %product : f32
    %next = arith.select %is_zero, %sum, %more : f32
    scf.yield %next : f32
  }
  %y = tensor.from_elements %r : tensor<f32>
  return %y : tensor<f32>
}
