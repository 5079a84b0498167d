// RUN: gradus opt %s --convert-graph-to-npu | FileCheck %s

// Images of one pixel are the columns of one image, in which the windows of a 3x3 convolution would see their neighbours: it stays on the
// host. Those of a 1x1 convolution do not.
// CHECK-LABEL: func.func @windows(
// CHECK: graph.qlinear_conv
// CHECK-LABEL: func.func @pixels(
// CHECK-NOT: graph.qlinear_conv
// CHECK: npu.call
func.func @windows(%x: tensor<2x2x1x1xi8>) -> tensor<2x2x1x1xi8> {
  %z = graph.constant dense<1> : tensor<i8>
  %s = graph.constant dense<1.000000e+00> : tensor<f32>
  %w = graph.constant dense<0> : tensor<2x1x3x3xi8>
  %0 = graph.qlinear_conv %x, %s, %z, %w, %s, %z, %s, %z {group = 2 : i64, pads = array<i64: 2, 2, 0, 0>} : (tensor<2x2x1x1xi8>, tensor<f32>, tensor<i8>, tensor<2x1x3x3xi8>, tensor<f32>, tensor<i8>, tensor<f32>, tensor<i8>) -> tensor<2x2x1x1xi8>
  return %0 : tensor<2x2x1x1xi8>
}

func.func @pixels(%x: tensor<2x2x1x1xi8>) -> tensor<2x3x1x1xi8> {
  %z = graph.constant dense<1> : tensor<i8>
  %s = graph.constant dense<1.000000e+00> : tensor<f32>
  %w = graph.constant dense<2> : tensor<3x2x1x1xi8>
  %0 = graph.qlinear_conv %x, %s, %z, %w, %s, %z, %s, %z : (tensor<2x2x1x1xi8>, tensor<f32>, tensor<i8>, tensor<3x2x1x1xi8>, tensor<f32>, tensor<i8>, tensor<f32>, tensor<i8>) -> tensor<2x3x1x1xi8>
  return %0 : tensor<2x3x1x1xi8>
}
