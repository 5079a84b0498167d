func.func @main(%x: tensor<2x4x3x4xf32>, %w: tensor<1x4x2x2xf32>) -> tensor<2x1x2x3xf32> {
  %0 = graph.conv %x, %w : (tensor<2x4x3x4xf32>, tensor<1x4x2x2xf32>) -> tensor<2x1x2x3xf32>
  return %0 : tensor<2x1x2x3xf32>
}
