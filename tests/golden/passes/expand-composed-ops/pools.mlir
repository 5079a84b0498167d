// RUN: gradus opt %s --expand-composed-ops --canonicalize --split-input-file

func.func @root(%x: tensor<?x3x?x6xf32>) -> tensor<?x3x?x4xf32> {
  %0 = graph.lp_pool %x {kernel_shape = array<i64: 2, 3>, pads = array<i64: 1, 0, 1, 0>} : (tensor<?x3x?x6xf32>) -> tensor<?x3x?x4xf32>
  return %0 : tensor<?x3x?x4xf32>
}

// -----

// A window that exceeds the image at its end is part of the padding.
func.func @partial(%x: tensor<1x1x7xf32>) -> (tensor<1x1x4xf32>, tensor<1x1x3xf32>) {
  %0 = graph.lp_pool %x {kernel_shape = array<i64: 2>, strides = array<i64: 2>, ceil_mode = 1 : i64, p = 1 : i64} : (tensor<1x1x7xf32>) -> tensor<1x1x4xf32>
  %1 = graph.lp_pool %x {kernel_shape = array<i64: 2>, strides = array<i64: 3>, dilations = array<i64: 2>, pads = array<i64: 1, 2>, ceil_mode = 1 : i64, p = 3 : i64} : (tensor<1x1x7xf32>) -> tensor<1x1x3xf32>
  return %0, %1 : tensor<1x1x4xf32>, tensor<1x1x3xf32>
}

// -----

func.func @global(%x: tensor<2x3x?x5xf32>, %y: tensor<2x3xf32>) -> (tensor<2x3x1x1xf32>, tensor<2x3x1x1xf32>, tensor<2x3xf32>) {
  %0 = graph.global_lp_pool %x : (tensor<2x3x?x5xf32>) -> tensor<2x3x1x1xf32>
  %1 = graph.global_lp_pool %x {p = 3 : i64} : (tensor<2x3x?x5xf32>) -> tensor<2x3x1x1xf32>
  %2 = graph.global_lp_pool %y : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0, %1, %2 : tensor<2x3x1x1xf32>, tensor<2x3x1x1xf32>, tensor<2x3xf32>
}
