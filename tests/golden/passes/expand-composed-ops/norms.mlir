// RUN: gradus opt %s --expand-composed-ops --canonicalize --split-input-file

func.func @batch(%x: tensor<2x3x?x5xf16>, %a: tensor<3xf32>, %b: tensor<3xf32>, %m: tensor<3xf32>, %v: tensor<3xf32>) -> tensor<2x3x?x5xf16> {
  %0 = graph.batch_normalization %x, %a, %b, %m, %v : (tensor<2x3x?x5xf16>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x3x?x5xf16>
  return %0 : tensor<2x3x?x5xf16>
}

// -----

// Constants fold into convolutions later.
func.func @constants(%x: tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32> {
  %a = graph.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %0 = graph.batch_normalization %x, %a, %a, %a, %a : (tensor<1x2x4x4xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<1x2x4x4xf32>
  return %0 : tensor<1x2x4x4xf32>
}

// -----

func.func @group(%x: tensor<?x4x3x2xf32>, %a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<?x4x3x2xf32> {
  %0 = graph.group_normalization %x, %a, %b {num_groups = 2 : i64, epsilon = 1.0e-3 : f32} : (tensor<?x4x3x2xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<?x4x3x2xf32>
  return %0 : tensor<?x4x3x2xf32>
}

// -----

// Images of any size have no rows of a known extent.
func.func @instance(%x: tensor<1x2x?x?xf32>, %a: tensor<2xf32>, %b: tensor<2xf32>) -> tensor<1x2x?x?xf32> {
  %0 = graph.instance_normalization %x, %a, %b : (tensor<1x2x?x?xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<1x2x?x?xf32>
  return %0 : tensor<1x2x?x?xf32>
}

// -----

// Reductions of neighbouring axes have kernels.
func.func @mean_variance(%x: tensor<2x3x4x5xf32>) -> tensor<2x3x4x5xf32> {
  %0 = graph.mean_variance_normalization %x : tensor<2x3x4x5xf32>
  return %0 : tensor<2x3x4x5xf32>
}

// -----

func.func @lp(%x: tensor<3x?xbf16>) -> tensor<3x?xbf16> {
  %0 = graph.lp_normalization %x {p = 1 : i64} : tensor<3x?xbf16>
  return %0 : tensor<3x?xbf16>
}

// -----

func.func @log_sum_exp(%x: tensor<2x3x4xf32>) -> tensor<3xf32> {
  %axes = graph.constant dense<[0, -1]> : tensor<2xi64>
  %0 = graph.reduce_log_sum_exp %x, %axes {keepdims = 0 : i64} : (tensor<2x3x4xf32>, tensor<2xi64>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}

// -----

// Ops of constants fold.
func.func @folded() -> tensor<2x2xf32> {
  %0 = graph.constant dense<[[0.0, -0.0], [0x7F800000, 1.0]]> : tensor<2x2xf32>
  %1 = graph.lp_normalization %0 : tensor<2x2xf32>
  return %1 : tensor<2x2xf32>
}

// -----

func.func @loss(%x: tensor<2x3x4xf32>, %t: tensor<2x4xi64>) -> (tensor<2x4xf32>, tensor<2x3x4xf32>) {
  %0:2 = graph.softmax_cross_entropy_loss %x, %t {reduction = "none", ignore_index = 1 : i64} : (tensor<2x3x4xf32>, tensor<2x4xi64>) -> (tensor<2x4xf32>, tensor<2x3x4xf32>)
  return %0#0, %0#1 : tensor<2x4xf32>, tensor<2x3x4xf32>
}
