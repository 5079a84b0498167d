// RUN: gradus opt %s --convert-qdq-to-integer

// The bias is in steps of the sums, and the range of the result is the clamp.
func.func @conv(%x: tensor<1x2x4x4xui8>) -> tensor<1x2x3x3xui8> {
  %sx = graph.constant dense<0.5> : tensor<f32>
  %zx = graph.constant dense<128> : tensor<ui8>
  %w = graph.constant dense<[[[[1, -2], [3, 4]], [[5, -6], [7, 8]]], [[[-9, 10], [11, 12]], [[13, -14], [15, 16]]]]> : tensor<2x2x2x2xi8>
  %sw = graph.constant dense<[0.25, 0.5]> : tensor<2xf32>
  %zw = graph.constant dense<0> : tensor<2xi8>
  %b = graph.constant dense<[3, -40]> : tensor<2xi32>
  %sb = graph.constant dense<[0.125, 0.25]> : tensor<2xf32>
  %zb = graph.constant dense<0> : tensor<2xi32>
  %sy = graph.constant dense<4.0> : tensor<f32>
  %zy = graph.constant dense<0> : tensor<ui8>
  %0 = graph.dequantize_linear %x, %sx, %zx : (tensor<1x2x4x4xui8>, tensor<f32>, tensor<ui8>) -> tensor<1x2x4x4xf32>
  %1 = graph.dequantize_linear %w, %sw, %zw {axis = 0 : i64} : (tensor<2x2x2x2xi8>, tensor<2xf32>, tensor<2xi8>) -> tensor<2x2x2x2xf32>
  %2 = graph.dequantize_linear %b, %sb, %zb {axis = 0 : i64} : (tensor<2xi32>, tensor<2xf32>, tensor<2xi32>) -> tensor<2xf32>
  %3 = graph.conv %0, %1, %2 : (tensor<1x2x4x4xf32>, tensor<2x2x2x2xf32>, tensor<2xf32>) -> tensor<1x2x3x3xf32>
  %4 = graph.relu %3 : tensor<1x2x3x3xf32>
  %5 = graph.quantize_linear %4, %sy, %zy : (tensor<1x2x3x3xf32>, tensor<f32>, tensor<ui8>) -> tensor<1x2x3x3xui8>
  return %5 : tensor<1x2x3x3xui8>
}
// A matrix product with a bias is a convolution of one pixel each.
func.func @gemm(%a: tensor<2x3xi8>) -> tensor<2x2xi8> {
  %s = graph.constant dense<0.5> : tensor<f32>
  %z = graph.constant dense<-3> : tensor<i8>
  %b = graph.constant dense<[[1, 2], [3, 4], [5, 6]]> : tensor<3x2xi8>
  %sb = graph.constant dense<[0.25, 0.5]> : tensor<2xf32>
  %zb = graph.constant dense<[0, 1]> : tensor<2xi8>
  %c = graph.constant dense<[1.5, -2.25]> : tensor<2xf32>
  %sy = graph.constant dense<2.0> : tensor<f32>
  %0 = graph.dequantize_linear %a, %s, %z : (tensor<2x3xi8>, tensor<f32>, tensor<i8>) -> tensor<2x3xf32>
  %1 = graph.dequantize_linear %b, %sb, %zb : (tensor<3x2xi8>, tensor<2xf32>, tensor<2xi8>) -> tensor<3x2xf32>
  %2 = graph.gemm %0, %1, %c : (tensor<2x3xf32>, tensor<3x2xf32>, tensor<2xf32>) -> tensor<2x2xf32>
  %3 = graph.quantize_linear %2, %sy, %z : (tensor<2x2xf32>, tensor<f32>, tensor<i8>) -> tensor<2x2xi8>
  return %3 : tensor<2x2xi8>
}
func.func @matmul(%a: tensor<2x2x3xui8>) -> tensor<2x2x2xui8> {
  %s = graph.constant dense<0.5> : tensor<f32>
  %z = graph.constant dense<7> : tensor<ui8>
  %b = graph.constant dense<[[1, 2], [3, 4], [5, 6]]> : tensor<3x2xui8>
  %sy = graph.constant dense<2.0> : tensor<f32>
  %0 = graph.dequantize_linear %a, %s, %z : (tensor<2x2x3xui8>, tensor<f32>, tensor<ui8>) -> tensor<2x2x3xf32>
  %1 = graph.dequantize_linear %b, %s : (tensor<3x2xui8>, tensor<f32>) -> tensor<3x2xf32>
  %2 = graph.matmul %0, %1 : (tensor<2x2x3xf32>, tensor<3x2xf32>) -> tensor<2x2x2xf32>
  %3 = graph.quantize_linear %2, %sy, %z : (tensor<2x2x2xf32>, tensor<f32>, tensor<ui8>) -> tensor<2x2x2xui8>
  return %3 : tensor<2x2x2xui8>
}
// Means are depthwise convolutions with weights 1.
func.func @mean(%x: tensor<1x2x4x4xi8>) -> (tensor<1x2x2x2xi8>, tensor<1x2x1x1xi8>) {
  %s = graph.constant dense<0.5> : tensor<f32>
  %z = graph.constant dense<-3> : tensor<i8>
  %0 = graph.dequantize_linear %x, %s, %z : (tensor<1x2x4x4xi8>, tensor<f32>, tensor<i8>) -> tensor<1x2x4x4xf32>
  %1 = graph.average_pool %0 {kernel_shape = array<i64: 2, 2>, strides = array<i64: 2, 2>} : (tensor<1x2x4x4xf32>) -> tensor<1x2x2x2xf32>
  %2 = graph.quantize_linear %1, %s, %z : (tensor<1x2x2x2xf32>, tensor<f32>, tensor<i8>) -> tensor<1x2x2x2xi8>
  %3 = graph.global_average_pool %0 : (tensor<1x2x4x4xf32>) -> tensor<1x2x1x1xf32>
  %4 = graph.quantize_linear %3, %s, %z : (tensor<1x2x1x1xf32>, tensor<f32>, tensor<i8>) -> tensor<1x2x1x1xi8>
  return %2, %4 : tensor<1x2x2x2xi8>, tensor<1x2x1x1xi8>
}
