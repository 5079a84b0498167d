// RUN: gradus opt %s --convert-graph-to-addr --canonicalize
// An unpadded convolution with separable addresses; the padded one copies its two channels into a padded buffer.
func.func @f(%x: tensor<1x2x4x4xf32>, %w: tensor<3x2x3x3xf32>, %b: tensor<3xf32>) -> (tensor<1x3x2x2xf32>, tensor<1x3x4x4xf32>) {
  %y = graph.conv %x, %w : (tensor<1x2x4x4xf32>, tensor<3x2x3x3xf32>) -> tensor<1x3x2x2xf32>
  %z = graph.conv %x, %w, %b {pads = array<i64: 1,1,1,1>} : (tensor<1x2x4x4xf32>, tensor<3x2x3x3xf32>, tensor<3xf32>) -> tensor<1x3x4x4xf32>
  return %y, %z : tensor<1x3x2x2xf32>, tensor<1x3x4x4xf32>
}
func.func @g(%x: tensor<2x8x5x5xf32>, %w: tensor<6x4x3x3xf32>) -> tensor<2x6x3x3xf32> {
  %y = graph.conv %x, %w {pads = array<i64: 1,1,1,1>, strides = array<i64: 2, 2>, group = 2 : i64} : (tensor<2x8x5x5xf32>, tensor<6x4x3x3xf32>) -> tensor<2x6x3x3xf32>
  return %y : tensor<2x6x3x3xf32>
}
func.func @h(%x: tensor<5x3x8xf32>, %w: tensor<8x6xf32>, %v: tensor<7x6xf32>, %c: tensor<7xf32>) -> (tensor<5x3x6xf32>, tensor<15x7xf32>) {
  %y = graph.matmul %x, %w : (tensor<5x3x8xf32>, tensor<8x6xf32>) -> tensor<5x3x6xf32>
  %s = arith.constant dense<[15, 6]> : tensor<2xi64>
  %r = graph.reshape %y, %s : (tensor<5x3x6xf32>, tensor<2xi64>) -> tensor<15x6xf32>
  %z = graph.gemm %r, %v, %c {transB = 1 : i64} : (tensor<15x6xf32>, tensor<7x6xf32>, tensor<7xf32>) -> tensor<15x7xf32>
  return %y, %z : tensor<5x3x6xf32>, tensor<15x7xf32>
}
