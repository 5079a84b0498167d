// RUN: gradus opt %s --convert-graph-to-addr="target=cpu" --propagate-layouts --canonicalize

// An argument is read in its own layout, also through elementwise ops; the result of a convolution is read with channels innermost.
func.func @first_and_second(%x: tensor<1x2x6x6xf32>, %w: tensor<8x2x3x3xf32>, %v: tensor<4x8x2x2xf32>) -> tensor<1x4x3x3xf32> {
  %n = graph.neg %x : tensor<1x2x6x6xf32>
  %y = graph.conv %n, %w : (tensor<1x2x6x6xf32>, tensor<8x2x3x3xf32>) -> tensor<1x8x4x4xf32>
  %r = graph.relu %y : tensor<1x8x4x4xf32>
  %z = graph.conv %r, %v : (tensor<1x8x4x4xf32>, tensor<4x8x2x2xf32>) -> tensor<1x4x3x3xf32>
  return %z : tensor<1x4x3x3xf32>
}
// With many output channels, one copy to channels innermost pays for itself.
func.func @many_columns(%x: tensor<1x2x17x17xf32>, %w: tensor<16384x2x2x2xf32>) -> tensor<1x16384x16x16xf32> {
  %y = graph.conv %x, %w : (tensor<1x2x17x17xf32>, tensor<16384x2x2x2xf32>) -> tensor<1x16384x16x16xf32>
  return %y : tensor<1x16384x16x16xf32>
}
// Kernels for 8-bit integers multiply four elements of a run at a time, so the image is copied to channels innermost.
func.func @bytes(%x: tensor<1x4x3x3xui8>, %w: tensor<2x4x2x2xi8>) -> tensor<1x2x2x2xi32> {
  %c = graph.constant dense<3> : tensor<2x4x2x2xi8>
  %y = graph.conv_integer %x, %c : (tensor<1x4x3x3xui8>, tensor<2x4x2x2xi8>) -> tensor<1x2x2x2xi32>
  return %y : tensor<1x2x2x2xi32>
}
