// RUN: gradus opt %s --convert-graph-to-addr="layout=NCHW" --canonicalize

// The 4x4 image of the book: the bases are 0, 1, 4 and 5 in all layouts without tiles.
func.func @one_channel(%x: tensor<1x1x4x4xf32>, %w: tensor<1x1x3x3xf32>) -> tensor<1x1x2x2xf32> {
  %y = graph.conv %x, %w : (tensor<1x1x4x4xf32>, tensor<1x1x3x3xf32>) -> tensor<1x1x2x2xf32>
  return %y : tensor<1x1x2x2xf32>
}
// Asymmetric padding, different strides and dilations per axis, and batch 2.
func.func @general(%x: tensor<2x8x4x5xf32>, %w: tensor<3x8x2x2xf32>, %b: tensor<3xf32>) -> tensor<2x3x2x3xf32> {
  %y = graph.conv %x, %w, %b {pads = array<i64: 1, 0, 0, 1>, strides = array<i64: 2, 1>, dilations = array<i64: 1, 3>} : (tensor<2x8x4x5xf32>, tensor<3x8x2x2xf32>, tensor<3xf32>) -> tensor<2x3x2x3xf32>
  return %y : tensor<2x3x2x3xf32>
}
func.func @groups(%x: tensor<1x8x3x3xf32>, %w: tensor<4x4x2x2xf32>) -> tensor<1x4x2x2xf32> {
  %y = graph.conv %x, %w {group = 2 : i64} : (tensor<1x8x3x3xf32>, tensor<4x4x2x2xf32>) -> tensor<1x4x2x2xf32>
  return %y : tensor<1x4x2x2xf32>
}
// A depthwise convolution reads and writes planes.
func.func @depthwise(%x: tensor<2x4x5x6xf32>, %w: tensor<4x1x3x3xf32>, %b: tensor<4xf32>) -> tensor<2x4x3x3xf32> {
  %y = graph.conv %x, %w, %b {group = 4 : i64, pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 2, 2>} : (tensor<2x4x5x6xf32>, tensor<4x1x3x3xf32>, tensor<4xf32>) -> tensor<2x4x3x3xf32>
  return %y : tensor<2x4x3x3xf32>
}
