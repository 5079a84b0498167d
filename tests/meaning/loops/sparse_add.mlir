// Elements at zeros of the constant are those of the other operand.
func.func @f(%x: tensor<6xf32>) -> tensor<6xf32> {
  %a = arith.constant dense<[0.0, 2.0, -0.0, -3.0, 0.0, 0.5]> : tensor<6xf32>
  %y = sparse.add %a, %x : tensor<6xf32>
  return %y : tensor<6xf32>
}

// -----

func.func @f(%x: tensor<6xf32>) -> tensor<6xf32> {
  %a = arith.constant dense<[0.0, 2.0, -0.0, -3.0, 0.0, 0.5]> : tensor<6xf32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c6 = arith.constant 6 : index
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<6xf32>
  %r = scf.for %i = %c0 to %c6 step %c1 iter_args(%done = %empty) -> (tensor<6xf32>) {
    %u = tensor.extract %a[%i] : tensor<6xf32>
    %v = tensor.extract %x[%i] : tensor<6xf32>
    %is_zero = arith.cmpf oeq, %u, %zero : f32
    %sum = arith.addf %u, %v : f32
    %w = arith.select %is_zero, %v, %sum : f32
    %next = tensor.insert %w into %done[%i] : tensor<6xf32>
    scf.yield %next : tensor<6xf32>
  }
  return %r : tensor<6xf32>
}
