// RUN: gradus opt %s --convert-qdq-to-integer

// A stride of 2: even columns are reached by taps 0 and 2, odd ones by tap 1. The last column is cut.
func.func @transposed(%x: tensor<1x2x3xui8>) -> tensor<1x1x7xui8> {
  %s = graph.constant dense<0.5> : tensor<f32>
  %z = graph.constant dense<3> : tensor<ui8>
  %wz = graph.constant dense<0> : tensor<i8>
  %w = graph.constant dense<[[[1, 2, 3]], [[4, 5, 6]]]> : tensor<2x1x3xi8>
  %0 = graph.dequantize_linear %x, %s, %z : (tensor<1x2x3xui8>, tensor<f32>, tensor<ui8>) -> tensor<1x2x3xf32>
  %1 = graph.dequantize_linear %w, %s, %wz : (tensor<2x1x3xi8>, tensor<f32>, tensor<i8>) -> tensor<2x1x3xf32>
  %2 = graph.conv_transpose %0, %1 {strides = array<i64: 2>} : (tensor<1x2x3xf32>, tensor<2x1x3xf32>) -> tensor<1x1x7xf32>
  %3 = graph.quantize_linear %2, %s, %z : (tensor<1x1x7xf32>, tensor<f32>, tensor<ui8>) -> tensor<1x1x7xui8>
  return %3 : tensor<1x1x7xui8>
}

// -----

// The mean of all rows and columns is a convolution by ones, also without the reduced axes.
func.func @mean(%x: tensor<1x2x2x4xui8>) -> tensor<1x2xui8> {
  %s = graph.constant dense<0.5> : tensor<f32>
  %z = graph.constant dense<3> : tensor<ui8>
  %axes = graph.constant dense<[2, -1]> : tensor<2xi64>
  %0 = graph.dequantize_linear %x, %s, %z : (tensor<1x2x2x4xui8>, tensor<f32>, tensor<ui8>) -> tensor<1x2x2x4xf32>
  %1 = graph.reduce_mean %0, %axes {keepdims = 0 : i64} : (tensor<1x2x2x4xf32>, tensor<2xi64>) -> tensor<1x2xf32>
  %2 = graph.quantize_linear %1, %s, %z : (tensor<1x2xf32>, tensor<f32>, tensor<ui8>) -> tensor<1x2xui8>
  return %2 : tensor<1x2xui8>
}
