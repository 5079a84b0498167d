func.func @main(%x: tensor<1x8x4x4xf32>, %y: tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32> {
  %w = graph.constant dense<0.5> : tensor<16x8x1x1xf32>
  %v = graph.constant dense<0.25> : tensor<8x16x1x1xf32>
  %0 = graph.conv %x, %w : (tensor<1x8x4x4xf32>, tensor<16x8x1x1xf32>) -> tensor<1x16x4x4xf32>
  %1 = graph.relu %0 : tensor<1x16x4x4xf32>
  %2 = graph.conv %1, %v : (tensor<1x16x4x4xf32>, tensor<8x16x1x1xf32>) -> tensor<1x8x4x4xf32>
  return %2 : tensor<1x8x4x4xf32>
}
