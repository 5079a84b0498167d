func.func @main(%x: tensor<1x1x4x4xf32>) -> tensor<1x1x2x2xf32> {
  %w = arith.constant dense<[[[[1.0, 0.0, 2.0], [-1.0, 3.0, 0.0], [0.0, 1.0, -2.0]]]]> : tensor<1x1x3x3xf32>
  %0 = graph.conv %x, %w : (tensor<1x1x4x4xf32>, tensor<1x1x3x3xf32>) -> tensor<1x1x2x2xf32>
  %1 = graph.relu %0 : tensor<1x1x2x2xf32>
  return %1 : tensor<1x1x2x2xf32>
}
