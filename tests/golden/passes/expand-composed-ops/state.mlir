// RUN: gradus opt %s --expand-composed-ops

// A convolution with past positions and with zeros before the first, and one of a single tap.
func.func @causal(%x: tensor<1x4x8xf32>, %w: tensor<4x1x3xf32>, %p: tensor<1x4x2xf32>) -> (tensor<1x4x8xf32>, tensor<1x4x2xf32>) {
  %0:2 = graph.causal_conv_with_state %x, %w past %p {activation = "silu"} : (tensor<1x4x8xf32>, tensor<4x1x3xf32>, tensor<1x4x2xf32>) -> (tensor<1x4x8xf32>, tensor<1x4x2xf32>)
  return %0#0, %0#1 : tensor<1x4x8xf32>, tensor<1x4x2xf32>
}
func.func @first(%x: tensor<2x4x8xf32>, %w: tensor<4x1x3xf32>, %b: tensor<4xf32>) -> (tensor<2x4x8xf32>, tensor<2x4x2xf32>) {
  %0:2 = graph.causal_conv_with_state %x, %w bias %b : (tensor<2x4x8xf32>, tensor<4x1x3xf32>, tensor<4xf32>) -> (tensor<2x4x8xf32>, tensor<2x4x2xf32>)
  return %0#0, %0#1 : tensor<2x4x8xf32>, tensor<2x4x2xf32>
}
func.func @point(%x: tensor<1x4x8xf32>, %w: tensor<4x1x1xf32>) -> (tensor<1x4x8xf32>, tensor<1x4x0xf32>) {
  %0:2 = graph.causal_conv_with_state %x, %w : (tensor<1x4x8xf32>, tensor<4x1x1xf32>) -> (tensor<1x4x8xf32>, tensor<1x4x0xf32>)
  return %0#0, %0#1 : tensor<1x4x8xf32>, tensor<1x4x0xf32>
}
// One axis is cropped, one is padded.
func.func @center(%x: tensor<3x8x5xi32>) -> tensor<3x5x8xi32> {
  %size = graph.constant dense<[5, 8]> : tensor<2xi64>
  %0 = graph.center_crop_pad %x, %size {axes = array<i64: 1, 2>} : (tensor<3x8x5xi32>, tensor<2xi64>) -> tensor<3x5x8xi32>
  return %0 : tensor<3x5x8xi32>
}
