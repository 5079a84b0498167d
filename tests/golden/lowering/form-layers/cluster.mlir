// RUN: gradus opt %s --form-layers="target=cluster clusters=2 without=prefetch"

// Elementwise ops are stages of the layer before them. The op of the host divides the function into two programs.
func.func @main(%x: tensor<1x4x8x8xf32>, %y: tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32> {
  %w = graph.constant dense<0.5> : tensor<4x4x3x3xf32>
  %0 = graph.conv %x, %w {pads = array<i64: 1, 1, 1, 1>} : (tensor<1x4x8x8xf32>, tensor<4x4x3x3xf32>) -> tensor<1x4x8x8xf32>
  %1 = graph.add %0, %y : (tensor<1x4x8x8xf32>, tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32>
  %2 = graph.relu %1 : tensor<1x4x8x8xf32>
  %3 = graph.erf %2 : tensor<1x4x8x8xf32>
  %4 = graph.sigmoid %3 : tensor<1x4x8x8xf32>
  return %4 : tensor<1x4x8x8xf32>
}
