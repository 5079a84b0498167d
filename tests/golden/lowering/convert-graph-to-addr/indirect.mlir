// RUN: gradus opt %s --convert-graph-to-addr=min-run=4 --canonicalize

// Runs of padding have the base -1.
func.func @padded(%x: tensor<1x4x3x2xf32>, %w: tensor<2x4x3x1xf32>, %b: tensor<2xf32>) -> tensor<1x2x2x2xf32> {
  %y = graph.conv %x, %w, %b {pads = array<i64: 1, 0, 1, 0>, strides = array<i64: 2, 1>} : (tensor<1x4x3x2xf32>, tensor<2x4x3x1xf32>, tensor<2xf32>) -> tensor<1x2x2x2xf32>
  return %y : tensor<1x2x2x2xf32>
}
// Each group has a table for its own channels.
func.func @groups(%x: tensor<1x8x3xf32>, %w: tensor<4x4x2xf32>, %b: tensor<4xf32>) -> tensor<1x4x4xf32> {
  %y = graph.conv %x, %w, %b {pads = array<i64: 1, 1>, group = 2 : i64} : (tensor<1x8x3xf32>, tensor<4x4x2xf32>, tensor<4xf32>) -> tensor<1x4x4xf32>
  return %y : tensor<1x4x4xf32>
}
// Not lowered: a dynamic batch, and a batched product.
func.func @not_lowered(%x: tensor<?x4x3x2xf32>, %w: tensor<2x4x3x1xf32>, %a: tensor<2x3x4xf32>, %b: tensor<2x4x5xf32>) -> (tensor<?x2x1x2xf32>, tensor<2x3x5xf32>) {
  %0 = graph.conv %x, %w : (tensor<?x4x3x2xf32>, tensor<2x4x3x1xf32>) -> tensor<?x2x1x2xf32>
  %1 = graph.matmul %a, %b : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>
  return %0, %1 : tensor<?x2x1x2xf32>, tensor<2x3x5xf32>
}
// Scales, a transposed left factor and an addend of all elements are ops around the product.
func.func @scaled(%a: tensor<4x3xf32>, %b: tensor<4x5xf32>, %c: tensor<3x5xf32>) -> tensor<3x5xf32> {
  %0 = graph.gemm %a, %b, %c {transA = 1 : i64, alpha = 2.0 : f32, beta = 0.5 : f32} : (tensor<4x3xf32>, tensor<4x5xf32>, tensor<3x5xf32>) -> tensor<3x5xf32>
  return %0 : tensor<3x5xf32>
}
func.func @sum_too_large(%x: tensor<1x1x2x2xf16>) -> tensor<1x1x1x1xf16> {
  %0 = graph.global_average_pool %x : (tensor<1x1x2x2xf16>) -> tensor<1x1x1x1xf16>
  return %0 : tensor<1x1x1x1xf16>
}
