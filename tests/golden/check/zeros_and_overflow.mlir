// RUN: not gradus check %s --convert-graph-to-addr --floats=exact 2>&1 | FileCheck %s

// What differs is no mistake, and says nothing.
// CHECK: inconclusive for 2 of 2 functions

// Real numbers have one zero: 'math.atan2' of zeros tells more than the pass promises.
func.func @signs_of_zeros() -> tensor<1x4xf32> {
  %cst = arith.constant dense<[[1.5, 2.0, -1.0, -0.0]]> : tensor<1x4xf32>
  %0 = graph.global_average_pool %cst : (tensor<1x4xf32>) -> tensor<1x4xf32>
  %1 = math.atan2 %0, %0 : tensor<1x4xf32>
  return %1 : tensor<1x4xf32>
}

// A sum of large numbers overflows, and in another result nothing but roundings is left.
func.func @overflow_beside_rounding(%x: tensor<1x3x1x3xf32>) -> (tensor<1x1x1x1xf32>, tensor<1x1x1x4xf32>) {
  %large = arith.constant dense<[[[[3.0e38, 3.0e38], [0.0, 0.0]]]]> : tensor<1x1x2x2xf32>
  %mean = graph.average_pool %large {kernel_shape = array<i64: 2, 2>} : (tensor<1x1x2x2xf32>) -> tensor<1x1x1x1xf32>
  %w = arith.constant dense<[[[[1.23, -3.69]]], [[[6.15, 2.46]]], [[[-1.23, 8.61]]]]> : tensor<3x1x1x2xf32>
  %y = graph.conv_transpose %x, %w : (tensor<1x3x1x3xf32>, tensor<3x1x1x2xf32>) -> tensor<1x1x1x4xf32>
  return %mean, %y : tensor<1x1x1x1xf32>, tensor<1x1x1x4xf32>
}
