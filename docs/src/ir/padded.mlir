func.func @main(%x: tensor<1x8x3x3xf32>, %w: tensor<1x8x3x3xf32>) -> tensor<1x1x3x3xf32> {
  %0 = graph.conv %x, %w {pads = array<i64: 1, 1, 1, 1>} : (tensor<1x8x3x3xf32>, tensor<1x8x3x3xf32>) -> tensor<1x1x3x3xf32>
  return %0 : tensor<1x1x3x3xf32>
}
