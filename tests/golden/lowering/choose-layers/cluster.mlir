// RUN: gradus opt %s --form-layers=target=cluster --choose-layers=report=true

func.func @main(%x: tensor<1x4x16x16xf32>) -> tensor<1x8x16x16xf32> {
  %w = graph.constant dense<0.5> : tensor<8x4x3x3xf32>
  %v = graph.constant dense<0.5> : tensor<8x8x1x1xf32>
  %0 = graph.conv %x, %w {pads = array<i64: 1, 1, 1, 1>} : (tensor<1x4x16x16xf32>, tensor<8x4x3x3xf32>) -> tensor<1x8x16x16xf32>
  %1 = graph.relu %0 : tensor<1x8x16x16xf32>
  %2 = graph.conv %1, %v : (tensor<1x8x16x16xf32>, tensor<8x8x1x1xf32>) -> tensor<1x8x16x16xf32>
  return %2 : tensor<1x8x16x16xf32>
}
