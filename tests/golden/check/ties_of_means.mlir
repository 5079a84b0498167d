// RUN: gradus check %s --convert-qdq-to-integer --floats=rounding | FileCheck %s
// RUN: gradus check %s --convert-graph-to-addr --floats=rounding | FileCheck %s

// The mean of six bytes may be halfway between two. A factor 1/6 is rounded, so that the other one may be the result.
// CHECK: @mean: no difference
func.func @mean(%x: tensor<1x2x2x3xui8>) -> tensor<1x2x1x1xui8> {
  %zero = graph.constant dense<0> : tensor<ui8>
  %scale = graph.constant dense<1.0> : tensor<f32>
  %0 = graph.dequantize_linear %x, %scale, %zero : (tensor<1x2x2x3xui8>, tensor<f32>, tensor<ui8>) -> tensor<1x2x2x3xf32>
  %1 = graph.global_average_pool %0 : (tensor<1x2x2x3xf32>) -> tensor<1x2x1x1xf32>
  %2 = graph.quantize_linear %1, %scale, %zero : (tensor<1x2x1x1xf32>, tensor<f32>, tensor<ui8>) -> tensor<1x2x1x1xui8>
  return %2 : tensor<1x2x1x1xui8>
}
