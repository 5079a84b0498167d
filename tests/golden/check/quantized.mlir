// RUN: gradus check %s --convert-qdq-to-integer | FileCheck %s

// The mean of two integers is halfway between two others, and floats are rounded before it is. The pass declares that, so the step is
// allowed without an option.
// CHECK: @mean: no difference on 200 inputs {{.*}} with --floats=quantized
func.func @mean(%x: tensor<1x1x2x3xi8>) -> tensor<1x1x1x1xi8> {
  %zero = graph.constant dense<0> : tensor<i8>
  %one = graph.constant dense<1.0> : tensor<f32>
  %0 = graph.dequantize_linear %x, %one, %zero : (tensor<1x1x2x3xi8>, tensor<f32>, tensor<i8>) -> tensor<1x1x2x3xf32>
  %1 = graph.global_average_pool %0 : (tensor<1x1x2x3xf32>) -> tensor<1x1x1x1xf32>
  %2 = graph.quantize_linear %1, %one, %zero : (tensor<1x1x1x1xf32>, tensor<f32>, tensor<i8>) -> tensor<1x1x1x1xi8>
  return %2 : tensor<1x1x1x1xi8>
}
