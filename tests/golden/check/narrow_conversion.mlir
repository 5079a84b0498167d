// RUN: gradus check %s --convert-graph-to-cluster | FileCheck %s

// The version in f64 drops the conversion, and only it: the op behind it reads an operand of another type there. The clusters multiply
// without rounding to f16 before the sigmoid.
// CHECK: @behind_conversion: no difference
func.func @behind_conversion(%x: tensor<1x8x1x1xf32>) -> tensor<1x8x1x1xf32> {
  %y = graph.constant dense<24.0> : tensor<1x8x1x1xf16>
  %0 = graph.cast %x to f16 : (tensor<1x8x1x1xf32>) -> tensor<1x8x1x1xf16>
  %1 = graph.tanh %0 : tensor<1x8x1x1xf16>
  %2 = graph.mul %y, %1 : (tensor<1x8x1x1xf16>, tensor<1x8x1x1xf16>) -> tensor<1x8x1x1xf16>
  %3 = graph.sigmoid %2 : tensor<1x8x1x1xf16>
  %4 = graph.cast %3 to f32 : (tensor<1x8x1x1xf16>) -> tensor<1x8x1x1xf32>
  return %4 : tensor<1x8x1x1xf32>
}
