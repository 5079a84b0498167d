func.func @f(%x: tensor<3x4xf32>) -> tensor<2x4xf32> {
  %a = arith.constant dense<[[0.0, 2.0, -0.5], [0.0, 0.0, 0.0]]> : tensor<2x3xf32>
  %y = sparse.matmul patterns %a, %x : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  return %y : tensor<2x4xf32>
}

// -----

func.func @f(%x: tensor<3x4xf32>) -> tensor<2x4xf32> {
  %a = arith.constant dense<[[0.0, 2.0, -0.5], [0.0, 0.0, 0.0]]> : tensor<2x3xf32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %zero = arith.constant 0.0 : f32
  %start = arith.constant -0.0 : f32
  %empty = tensor.empty() : tensor<2x4xf32>
  %r = scf.for %i = %c0 to %c2 step %c1 iter_args(%rows = %empty) -> (tensor<2x4xf32>) {
    %r1 = scf.for %j = %c0 to %c4 step %c1 iter_args(%row = %rows) -> (tensor<2x4xf32>) {
      %false = arith.constant false
      %sum:2 = scf.for %k = %c0 to %c3 step %c1 iter_args(%s = %start, %has = %false) -> (f32, i1) {
        %u = tensor.extract %a[%i, %k] : tensor<2x3xf32>
        %v = tensor.extract %x[%k, %j] : tensor<3x4xf32>
        %is_zero = arith.cmpf oeq, %u, %zero : f32
        %product = arith.mulf %u, %v : f32
        %more = arith.addf %s, %product : f32
        %next = arith.select %is_zero, %s, %more : f32
        %true = arith.constant true
        %found = arith.select %is_zero, %has, %true : i1
        scf.yield %next, %found : f32, i1
      }
      %w = arith.select %sum#1, %sum#0, %zero : f32
      %next = tensor.insert %w into %row[%i, %j] : tensor<2x4xf32>
      scf.yield %next : tensor<2x4xf32>
    }
    scf.yield %r1 : tensor<2x4xf32>
  }
  return %r : tensor<2x4xf32>
}
