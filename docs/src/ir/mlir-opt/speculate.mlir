func.func @split(%t: tensor<?xf32>, %n: index, %a: index, %b: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %0 = tensor.expand_shape %t [[0, 1]] output_shape [%a, 4] : tensor<?xf32> into tensor<?x4xf32>
  }
  return
}
