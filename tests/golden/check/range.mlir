// RUN: not gradus check %s --expand-composed-ops 2>&1 | FileCheck %s

// The norm is not in the range of f32, but in that of f64.
// CHECK: @overflow: inconclusive
func.func @overflow() -> tensor<2xf32> {
  %x = arith.constant dense<[3.0e+38, 3.0e+38]> : tensor<2xf32>
  %0 = graph.identity %x : tensor<2xf32>
  %1 = graph.lp_normalization %0 : tensor<2xf32>
  return %1 : tensor<2xf32>
}
