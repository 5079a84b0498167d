func.func @main(%b: tensor<4x8xi32>) -> tensor<2x8xi32> {
  %a = graph.constant dense<[[1, 0, 0, 2], [0, 3, 0, 0]]> : tensor<2x4xi32>
  %c = sparse.matmul unrolled %a, %b : (tensor<2x4xi32>, tensor<4x8xi32>) -> tensor<2x8xi32>
  return %c : tensor<2x8xi32>
}
