// RUN: gradus opt %s --convert-graph-to-npu

// A reduction is computed by the host, between two programs. A table that is not constant stays on the host.
func.func @main(%x: tensor<1x3x6x6xui8>) -> tensor<1x8x1x1xui8> {
  %s = graph.constant dense<0.05> : tensor<f32>
  %z = graph.constant dense<3> : tensor<ui8>
  %f = graph.constant dense<2> : tensor<8x3x3x3xi8>
  %g = graph.constant dense<1> : tensor<8x1x1x1xi8>
  %fs = graph.constant dense<0.01> : tensor<f32>
  %fz = graph.constant dense<0> : tensor<i8>
  %0 = graph.qlinear_conv %x, %s, %z, %f, %fs, %fz, %s, %z {pads = array<i64: 1, 1, 1, 1>} : (tensor<1x3x6x6xui8>, tensor<f32>, tensor<ui8>, tensor<8x3x3x3xi8>, tensor<f32>, tensor<i8>, tensor<f32>, tensor<ui8>) -> tensor<1x8x6x6xui8>
  %axes = graph.constant dense<[2, 3]> : tensor<2xi64>
  %1 = graph.reduce_max %0, %axes : (tensor<1x8x6x6xui8>, tensor<2xi64>) -> tensor<1x8x1x1xui8>
  %2 = graph.qlinear_conv %1, %s, %z, %g, %fs, %fz, %s, %z {group = 8 : i64} : (tensor<1x8x1x1xui8>, tensor<f32>, tensor<ui8>, tensor<8x1x1x1xi8>, tensor<f32>, tensor<i8>, tensor<f32>, tensor<ui8>) -> tensor<1x8x1x1xui8>
  return %2 : tensor<1x8x1x1xui8>
}
// -----
func.func @table(%x: tensor<2x8x4x4xi8>, %t: tensor<256xi8>) -> tensor<2x8x4x4xi8> {
  %0 = graph.table %x, %t : (tensor<2x8x4x4xi8>, tensor<256xi8>) -> tensor<2x8x4x4xi8>
  return %0 : tensor<2x8x4x4xi8>
}
