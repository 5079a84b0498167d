// RUN: gradus opt %s --form-layers

// A sum is computed at the store of the convolution before it; a multiply is a layer of its own, a concatenation none.
func.func @main(%x: tensor<1x8x4x4xi8>, %w: tensor<1x8x1x1xi8>) -> (tensor<1x16x4x4xi8>, tensor<1x8x4x4xf32>) {
  %s = graph.constant dense<0.0625> : tensor<f32>
  %z = graph.constant dense<3> : tensor<i8>
  %f = graph.constant dense<2> : tensor<8x8x1x1xi8>
  %fs = graph.constant dense<0.01> : tensor<f32>
  %fz = graph.constant dense<0> : tensor<i8>
  %0 = graph.qlinear_conv %x, %s, %z, %f, %fs, %fz, %s, %z : (tensor<1x8x4x4xi8>, tensor<f32>, tensor<i8>, tensor<8x8x1x1xi8>, tensor<f32>, tensor<i8>, tensor<f32>, tensor<i8>) -> tensor<1x8x4x4xi8> loc("conv")
  %1 = graph.qlinear_add %0, %s, %z, %x, %s, %z, %s, %z : (tensor<1x8x4x4xi8>, tensor<f32>, tensor<i8>, tensor<1x8x4x4xi8>, tensor<f32>, tensor<i8>, tensor<f32>, tensor<i8>) -> tensor<1x8x4x4xi8> loc("add")
  %2 = graph.qlinear_mul %1, %s, %z, %w, %s, %z, %s, %z : (tensor<1x8x4x4xi8>, tensor<f32>, tensor<i8>, tensor<1x8x1x1xi8>, tensor<f32>, tensor<i8>, tensor<f32>, tensor<i8>) -> tensor<1x8x4x4xi8>
  %3 = graph.concat %1, %2 {axis = 1 : i64} : (tensor<1x8x4x4xi8>, tensor<1x8x4x4xi8>) -> tensor<1x16x4x4xi8>
  %4 = graph.dequantize_linear %2, %s, %z : (tensor<1x8x4x4xi8>, tensor<f32>, tensor<i8>) -> tensor<1x8x4x4xf32>
  return %3, %4 : tensor<1x16x4x4xi8>, tensor<1x8x4x4xf32>
}
