// RUN: gradus opt %s --form-layers --choose-layers=report=true

func.func @main(%x: tensor<1x8x16x16xui8>) -> tensor<1x16x16x16xui8> {
  %s = graph.constant dense<0.0625> : tensor<f32>
  %z = graph.constant dense<3> : tensor<ui8>
  %f = graph.constant dense<2> : tensor<8x8x3x3xi8>
  %g = graph.constant dense<1> : tensor<16x8x1x1xi8>
  %fs = graph.constant dense<0.01> : tensor<f32>
  %fz = graph.constant dense<0> : tensor<i8>
  %0 = graph.qlinear_conv %x, %s, %z, %f, %fs, %fz, %s, %z {pads = array<i64: 1, 1, 1, 1>} : (tensor<1x8x16x16xui8>, tensor<f32>, tensor<ui8>, tensor<8x8x3x3xi8>, tensor<f32>, tensor<i8>, tensor<f32>, tensor<ui8>) -> tensor<1x8x16x16xui8>
  %1 = graph.qlinear_conv %0, %s, %z, %g, %fs, %fz, %s, %z : (tensor<1x8x16x16xui8>, tensor<f32>, tensor<ui8>, tensor<16x8x1x1xi8>, tensor<f32>, tensor<i8>, tensor<f32>, tensor<ui8>) -> tensor<1x16x16x16xui8>
  return %1 : tensor<1x16x16x16xui8>
}
