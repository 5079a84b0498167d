// RUN: gradus opt %s --form-layers --choose-layers | FileCheck %s
// RUN: gradus check %s --convert-graph-to-npu | FileCheck %s --check-prefix=EQUAL

// A window of two rows and two columns: two maxima of pairs, each a convolution and a sum.
// CHECK-LABEL: @pairs
// CHECK: layer.fused by [#npu.tiles<{{[^>]*}}>, #npu.tiles<{{[^>]*}}>] -> tensor<1x8x2x2xui8>
// EQUAL: @pairs: no difference
func.func @pairs(%x: tensor<1x8x4x4xui8>) -> tensor<1x8x2x2xui8> {
  %0 = graph.max_pool %x {kernel_shape = array<i64: 2, 2>, strides = array<i64: 2, 2>} : (tensor<1x8x4x4xui8>) -> tensor<1x8x2x2xui8>
  return %0 : tensor<1x8x2x2xui8>
}

// Interleaved columns: each of two convolutions writes every other one, and what joins them has no layer. Both phases of the rows are the
// same columns, which one layer each copies.
// CHECK-LABEL: @phases
// CHECK-COUNT-3: layer.fused
// EQUAL: @phases: no difference
func.func @phases(%x: tensor<1x8x3x3xui8>) -> tensor<1x8x6x6xui8> {
  %s = graph.constant dense<0.5> : tensor<f32>
  %z = graph.constant dense<3> : tensor<ui8>
  %w = graph.constant dense<1> : tensor<8x8x1x1xi8>
  %v = graph.constant dense<2> : tensor<8x8x1x1xi8>
  %wz = graph.constant dense<0> : tensor<i8>
  %a = graph.qlinear_conv %x, %s, %z, %w, %s, %wz, %s, %z : (tensor<1x8x3x3xui8>, tensor<f32>, tensor<ui8>, tensor<8x8x1x1xi8>, tensor<f32>, tensor<i8>, tensor<f32>, tensor<ui8>) -> tensor<1x8x3x3xui8>
  %b = graph.qlinear_conv %x, %s, %z, %v, %s, %wz, %s, %z : (tensor<1x8x3x3xui8>, tensor<f32>, tensor<ui8>, tensor<8x8x1x1xi8>, tensor<f32>, tensor<i8>, tensor<f32>, tensor<ui8>) -> tensor<1x8x3x3xui8>
  %apart = graph.constant dense<[1, 8, 3, 3, 1]> : tensor<5xi64>
  %rows = graph.constant dense<[1, 8, 3, 1, 6]> : tensor<5xi64>
  %all = graph.constant dense<[1, 8, 6, 6]> : tensor<4xi64>
  %a1 = graph.reshape %a, %apart : (tensor<1x8x3x3xui8>, tensor<5xi64>) -> tensor<1x8x3x3x1xui8>
  %b1 = graph.reshape %b, %apart : (tensor<1x8x3x3xui8>, tensor<5xi64>) -> tensor<1x8x3x3x1xui8>
  %c = graph.concat %a1, %b1 {axis = 4 : i64} : (tensor<1x8x3x3x1xui8>, tensor<1x8x3x3x1xui8>) -> tensor<1x8x3x3x2xui8>
  %c1 = graph.reshape %c, %rows : (tensor<1x8x3x3x2xui8>, tensor<5xi64>) -> tensor<1x8x3x1x6xui8>
  %d = graph.concat %c1, %c1 {axis = 3 : i64} : (tensor<1x8x3x1x6xui8>, tensor<1x8x3x1x6xui8>) -> tensor<1x8x3x2x6xui8>
  %y = graph.reshape %d, %all : (tensor<1x8x3x2x6xui8>, tensor<4xi64>) -> tensor<1x8x6x6xui8>
  return %y : tensor<1x8x6x6xui8>
}
