// RUN: gradus check %s --quantize-intermediates | FileCheck %s
// RUN: not gradus check %s --quantize-intermediates --floats=quantized 2>&1 | FileCheck %s --check-prefix=STEP

// Intermediate results of 8 bits change results by more than a step; the pass declares that.
// CHECK: @hard_swish: no difference on 200 inputs {{.*}} with --floats=requantized
// STEP: error: '@hard_swish' has a different meaning after pass 'quantize-intermediates'
func.func @hard_swish(%x: tensor<1x2x4x4xui8>) -> tensor<1x2x4x4xui8> {
  %s = graph.constant dense<0.03125> : tensor<f32>
  %z = graph.constant dense<12> : tensor<ui8>
  %zw = graph.constant dense<0> : tensor<i8>
  %q = graph.constant dense<[[[[100]], [[90]]], [[[-80]], [[-70]]]]> : tensor<2x2x1x1xi8>
  %d = graph.dequantize_linear %x, %s, %z : (tensor<1x2x4x4xui8>, tensor<f32>, tensor<ui8>) -> tensor<1x2x4x4xf32>
  %w = graph.dequantize_linear %q, %s, %zw : (tensor<2x2x1x1xi8>, tensor<f32>, tensor<i8>) -> tensor<2x2x1x1xf32>
  %0 = graph.conv %d, %w : (tensor<1x2x4x4xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x4x4xf32>
  %1 = graph.hard_swish %0 : tensor<1x2x4x4xf32>
  %2 = graph.quantize_linear %1, %s, %z : (tensor<1x2x4x4xf32>, tensor<f32>, tensor<ui8>) -> tensor<1x2x4x4xui8>
  return %2 : tensor<1x2x4x4xui8>
}
