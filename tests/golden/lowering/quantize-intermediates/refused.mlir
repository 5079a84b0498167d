// RUN: gradus opt %s --quantize-intermediates --split-input-file --verify-diagnostics

// 256 steps of the argument are too few where one of them changes the result by several steps.
func.func @steep(%x: tensor<1x2x4x4xui8>) -> tensor<1x2x4x4xui8> {
  %s = graph.constant dense<0.03125> : tensor<f32>
  %sy = graph.constant dense<0.0078125> : tensor<f32>
  %z = graph.constant dense<128> : tensor<ui8>
  %zw = graph.constant dense<0> : tensor<i8>
  %q = graph.constant dense<[[[[100]], [[90]]], [[[-80]], [[-70]]]]> : tensor<2x2x1x1xi8>
  %d = graph.dequantize_linear %x, %s, %z : (tensor<1x2x4x4xui8>, tensor<f32>, tensor<ui8>) -> tensor<1x2x4x4xf32>
  %w = graph.dequantize_linear %q, %s, %zw : (tensor<2x2x1x1xi8>, tensor<f32>, tensor<i8>) -> tensor<2x2x1x1xf32>
  %0 = graph.conv %d, %w : (tensor<1x2x4x4xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x4x4xf32>
  // expected-remark-re@+1 {{'graph.sin' stays in floats: intermediate results of 8 bits with an error of up to {{[0-9]+}} steps, of 3 at most}}
  %1 = graph.sin %0 : tensor<1x2x4x4xf32>
  %2 = graph.quantize_linear %1, %sy, %z : (tensor<1x2x4x4xf32>, tensor<f32>, tensor<ui8>) -> tensor<1x2x4x4xui8>
  return %2 : tensor<1x2x4x4xui8>
}
