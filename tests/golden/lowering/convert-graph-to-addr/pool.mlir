// RUN: gradus opt %s --convert-graph-to-addr --propagate-layouts --canonicalize

func.func @max_then_mean(%x: tensor<1x2x4x4xf32>) -> tensor<1x2x1x1xf32> {
  %0 = graph.max_pool %x {kernel_shape = array<i64: 3, 3>, pads = array<i64: 1, 1, 0, 0>, strides = array<i64: 2, 2>} : (tensor<1x2x4x4xf32>) -> tensor<1x2x2x2xf32>
  %1 = graph.relu %0 : tensor<1x2x2x2xf32>
  %2 = graph.global_average_pool %1 : (tensor<1x2x2x2xf32>) -> tensor<1x2x1x1xf32>
  return %2 : tensor<1x2x1x1xf32>
}
// Means divide by the number of elements inside the image, or by the window size with `count_include_pad`.
func.func @means(%x: tensor<1x1x4xf32>) -> (tensor<1x1x3xf32>, tensor<1x1x3xf32>) {
  %0 = graph.average_pool %x {kernel_shape = array<i64: 2>, pads = array<i64: 1, 1>, strides = array<i64: 2>} : (tensor<1x1x4xf32>) -> tensor<1x1x3xf32>
  %1 = graph.average_pool %x {kernel_shape = array<i64: 2>, pads = array<i64: 1, 1>, strides = array<i64: 2>, count_include_pad = 1 : i64} : (tensor<1x1x4xf32>) -> tensor<1x1x3xf32>
  return %0, %1 : tensor<1x1x3xf32>, tensor<1x1x3xf32>
}
func.func @depthwise(%x: tensor<1x3x3x3xf32>, %w: tensor<3x1x2x2xf32>, %b: tensor<3xf32>) -> tensor<1x3x4x4xf32> {
  %0 = graph.conv %x, %w, %b {pads = array<i64: 1, 1, 1, 1>, group = 3 : i64} : (tensor<1x3x3x3xf32>, tensor<3x1x2x2xf32>, tensor<3xf32>) -> tensor<1x3x4x4xf32>
  return %0 : tensor<1x3x4x4xf32>
}
