// RUN: gradus opt %s --convert-graph-to-npu

// The images of a batch, of one pixel each, are columns: windows of more than one tap would read other images, strides skip some.
func.func @window(%x: tensor<2x1x1x1xui8>) -> tensor<2x2x1x1xui8> {
  %w = graph.constant dense<1> : tensor<2x1x2x2xi8>
  %s = graph.constant dense<1.000000e+00> : tensor<f32>
  %z = graph.constant dense<0> : tensor<ui8>
  %wz = graph.constant dense<0> : tensor<i8>
  %0 = graph.qlinear_conv %x, %s, %z, %w, %s, %wz, %s, %z {auto_pad = "SAME_LOWER"} : (tensor<2x1x1x1xui8>, tensor<f32>, tensor<ui8>, tensor<2x1x2x2xi8>, tensor<f32>, tensor<i8>, tensor<f32>, tensor<ui8>) -> tensor<2x2x1x1xui8>
  return %0 : tensor<2x2x1x1xui8>
}
// -----
func.func @stride(%x: tensor<3x2x1xui8>) -> tensor<3x2x1xui8> {
  %w = graph.constant dense<[[[1], [2]], [[3], [4]]]> : tensor<2x2x1xi8>
  %s = graph.constant dense<1.000000e+00> : tensor<f32>
  %z = graph.constant dense<0> : tensor<ui8>
  %wz = graph.constant dense<0> : tensor<i8>
  %0 = graph.qlinear_conv %x, %s, %z, %w, %s, %wz, %s, %z {strides = array<i64: 2>} : (tensor<3x2x1xui8>, tensor<f32>, tensor<ui8>, tensor<2x2x1xi8>, tensor<f32>, tensor<i8>, tensor<f32>, tensor<ui8>) -> tensor<3x2x1xui8>
  return %0 : tensor<3x2x1xui8>
}
// -----
func.func @depthwise(%x: tensor<3x8x1x1xi8>) -> tensor<3x8x1x1xi8> {
  %w = graph.constant dense<2> : tensor<8x1x3x3xi8>
  %s = graph.constant dense<1.000000e+00> : tensor<f32>
  %z = graph.constant dense<0> : tensor<i8>
  %0 = graph.qlinear_conv %x, %s, %z, %w, %s, %z, %s, %z {group = 8 : i64, pads = array<i64: 2, 2, 2, 2>, dilations = array<i64: 2, 2>} : (tensor<3x8x1x1xi8>, tensor<f32>, tensor<i8>, tensor<8x1x3x3xi8>, tensor<f32>, tensor<i8>, tensor<f32>, tensor<i8>) -> tensor<3x8x1x1xi8>
  return %0 : tensor<3x8x1x1xi8>
}
// -----
// A convolution of one tap computes each image by itself.
func.func @pointwise(%x: tensor<3x2x1x1xui8>) -> tensor<3x2x1x1xui8> {
  %w = graph.constant dense<[[[[1]], [[2]]], [[[3]], [[4]]]]> : tensor<2x2x1x1xi8>
  %s = graph.constant dense<1.000000e+00> : tensor<f32>
  %z = graph.constant dense<0> : tensor<ui8>
  %wz = graph.constant dense<0> : tensor<i8>
  %0 = graph.qlinear_conv %x, %s, %z, %w, %s, %wz, %s, %z : (tensor<3x2x1x1xui8>, tensor<f32>, tensor<ui8>, tensor<2x2x1x1xi8>, tensor<f32>, tensor<i8>, tensor<f32>, tensor<ui8>) -> tensor<3x2x1x1xui8>
  return %0 : tensor<3x2x1x1xui8>
}
