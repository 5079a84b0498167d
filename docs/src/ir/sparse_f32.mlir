func.func @main(%b: tensor<4x8xf32>) -> tensor<2x8xf32> {
  %a = graph.constant dense<[[1.0, 0.0, 0.0, 2.5], [0.0, 3.0, 0.0, 0.0]]> : tensor<2x4xf32>
  %c = sparse.matmul unrolled %a, %b : (tensor<2x4xf32>, tensor<4x8xf32>) -> tensor<2x8xf32>
  return %c : tensor<2x8xf32>
}
