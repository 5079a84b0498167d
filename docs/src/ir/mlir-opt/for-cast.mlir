func.func @last(%t: tensor<4xi32>, %n: index, %u: tensor<?xi32>) -> tensor<?xi32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %d = tensor.cast %t : tensor<4xi32> to tensor<?xi32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %d) -> (tensor<?xi32>) {
    scf.yield %u : tensor<?xi32>
  }
  return %r : tensor<?xi32>
}
