// RUN: gradus opt %s --expand-composed-ops --canonicalize

// Windows at distance 1 with constant filters: padding, dilation and groups.
func.func @padded(%x: tensor<1x2x4x5xf32>) -> tensor<1x1x4x7xf32> {
  %w = graph.constant dense<[[[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0]]], [[[-1.0, -2.0, -3.0], [-4.0, -5.0, -6.0], [-7.0, -8.0, -9.0]]]]> : tensor<2x1x3x3xf32>
  %0 = graph.conv_transpose %x, %w {pads = array<i64: 1, 0, 1, 0>} : (tensor<1x2x4x5xf32>, tensor<2x1x3x3xf32>) -> tensor<1x1x4x7xf32>
  return %0 : tensor<1x1x4x7xf32>
}
func.func @groups(%x: tensor<1x2x5xf32>, %b: tensor<4xf32>) -> tensor<1x4x7xf32> {
  %w = graph.constant dense<[[[1.0, 2.0], [3.0, 4.0]], [[5.0, 6.0], [7.0, 8.0]]]> : tensor<2x2x2xf32>
  %0 = graph.conv_transpose %x, %w, %b {dilations = array<i64: 2>, group = 2 : i64} : (tensor<1x2x5xf32>, tensor<2x2x2xf32>, tensor<4xf32>) -> tensor<1x4x7xf32>
  return %0 : tensor<1x4x7xf32>
}
// Strides of 2 stay.
func.func @strides(%x: tensor<1x1x3xf32>) -> tensor<1x1x6xf32> {
  %w = graph.constant dense<1.0> : tensor<1x1x2xf32>
  %0 = graph.conv_transpose %x, %w {strides = array<i64: 2>} : (tensor<1x1x3xf32>, tensor<1x1x2xf32>) -> tensor<1x1x6xf32>
  return %0 : tensor<1x1x6xf32>
}
