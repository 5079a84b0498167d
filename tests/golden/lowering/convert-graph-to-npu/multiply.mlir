// RUN: gradus opt %s --convert-graph-to-npu

// A multiply of elements and one by channels are depthwise convolutions; nothing between the convolutions leaves SRAM.
func.func @main(%x: tensor<1x8x4x4xi8>, %w: tensor<1x8x1x1xi8>) -> tensor<1x8x4x4xi8> {
  %s = graph.constant dense<0.0625> : tensor<f32>
  %z = graph.constant dense<3> : tensor<i8>
  %f = graph.constant dense<2> : tensor<8x8x1x1xi8>
  %fs = graph.constant dense<0.01> : tensor<f32>
  %fz = graph.constant dense<0> : tensor<i8>
  %0 = graph.qlinear_conv %x, %s, %z, %f, %fs, %fz, %s, %z : (tensor<1x8x4x4xi8>, tensor<f32>, tensor<i8>, tensor<8x8x1x1xi8>, tensor<f32>, tensor<i8>, tensor<f32>, tensor<i8>) -> tensor<1x8x4x4xi8>
  %1 = graph.qlinear_mul %0, %s, %z, %x, %s, %z, %s, %z : (tensor<1x8x4x4xi8>, tensor<f32>, tensor<i8>, tensor<1x8x4x4xi8>, tensor<f32>, tensor<i8>, tensor<f32>, tensor<i8>) -> tensor<1x8x4x4xi8>
  %2 = graph.qlinear_mul %1, %s, %z, %w, %s, %z, %s, %z : (tensor<1x8x4x4xi8>, tensor<f32>, tensor<i8>, tensor<1x8x1x1xi8>, tensor<f32>, tensor<i8>, tensor<f32>, tensor<i8>) -> tensor<1x8x4x4xi8>
  return %2 : tensor<1x8x4x4xi8>
}
