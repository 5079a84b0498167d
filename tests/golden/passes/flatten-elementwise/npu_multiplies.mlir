// RUN: gradus opt %s --pass-pipeline="builtin.module(canonicalize,flatten-elementwise,canonicalize,convert-graph-to-npu{target=npu})" | FileCheck %s

// Each form of product is computed by the machine.

// CHECK-NOT: graph.qlinear_mul

// CHECK-LABEL: @same(
// CHECK: npu.call
func.func @same(%x: tensor<1x8x6x7xi8>, %w: tensor<1x8x6x7xi8>) -> tensor<1x8x6x7xi8> {
  %s = graph.constant dense<0.0625> : tensor<f32>
  %za = graph.constant dense<3> : tensor<i8>
  %zb = graph.constant dense<5> : tensor<i8>
  %0 = graph.qlinear_mul %x, %s, %za, %w, %s, %zb, %s, %za : (tensor<1x8x6x7xi8>, tensor<f32>, tensor<i8>, tensor<1x8x6x7xi8>, tensor<f32>, tensor<i8>, tensor<f32>, tensor<i8>) -> tensor<1x8x6x7xi8>
  return %0 : tensor<1x8x6x7xi8>
}

// CHECK-LABEL: @channels(
// CHECK: npu.call
func.func @channels(%x: tensor<1x8x6x7xui8>, %w: tensor<1x8x1x1xui8>) -> tensor<1x8x6x7xui8> {
  %s = graph.constant dense<0.0625> : tensor<f32>
  %za = graph.constant dense<3> : tensor<ui8>
  %zb = graph.constant dense<5> : tensor<ui8>
  %0 = graph.qlinear_mul %x, %s, %za, %w, %s, %zb, %s, %za : (tensor<1x8x6x7xui8>, tensor<f32>, tensor<ui8>, tensor<1x8x1x1xui8>, tensor<f32>, tensor<ui8>, tensor<f32>, tensor<ui8>) -> tensor<1x8x6x7xui8>
  return %0 : tensor<1x8x6x7xui8>
}

// CHECK-LABEL: @scalar_of_rank_4(
// CHECK: npu.call
func.func @scalar_of_rank_4(%x: tensor<1x8x6x7xi8>, %w: tensor<1x1x1x1xi8>) -> tensor<1x8x6x7xi8> {
  %s = graph.constant dense<0.0625> : tensor<f32>
  %za = graph.constant dense<3> : tensor<i8>
  %zb = graph.constant dense<5> : tensor<i8>
  %0 = graph.qlinear_mul %x, %s, %za, %w, %s, %zb, %s, %za : (tensor<1x8x6x7xi8>, tensor<f32>, tensor<i8>, tensor<1x1x1x1xi8>, tensor<f32>, tensor<i8>, tensor<f32>, tensor<i8>) -> tensor<1x8x6x7xi8>
  return %0 : tensor<1x8x6x7xi8>
}

// CHECK-LABEL: @scalar_of_rank_0(
// CHECK: npu.call
func.func @scalar_of_rank_0(%x: tensor<1x8x6x7xui8>, %w: tensor<ui8>) -> tensor<1x8x6x7xui8> {
  %s = graph.constant dense<0.0625> : tensor<f32>
  %za = graph.constant dense<3> : tensor<ui8>
  %zb = graph.constant dense<5> : tensor<ui8>
  %0 = graph.qlinear_mul %x, %s, %za, %w, %s, %zb, %s, %za : (tensor<1x8x6x7xui8>, tensor<f32>, tensor<ui8>, tensor<ui8>, tensor<f32>, tensor<ui8>, tensor<f32>, tensor<ui8>) -> tensor<1x8x6x7xui8>
  return %0 : tensor<1x8x6x7xui8>
}

// CHECK-LABEL: @row(
// CHECK: npu.call
func.func @row(%x: tensor<1x8x6x7xi8>, %w: tensor<1x1x1x7xi8>) -> tensor<1x8x6x7xi8> {
  %s = graph.constant dense<0.0625> : tensor<f32>
  %za = graph.constant dense<3> : tensor<i8>
  %zb = graph.constant dense<5> : tensor<i8>
  %0 = graph.qlinear_mul %x, %s, %za, %w, %s, %zb, %s, %za : (tensor<1x8x6x7xi8>, tensor<f32>, tensor<i8>, tensor<1x1x1x7xi8>, tensor<f32>, tensor<i8>, tensor<f32>, tensor<i8>) -> tensor<1x8x6x7xi8>
  return %0 : tensor<1x8x6x7xi8>
}

// CHECK-LABEL: @mask(
// CHECK: npu.call
func.func @mask(%x: tensor<1x8x6x7xui8>, %w: tensor<1x1x6x7xui8>) -> tensor<1x8x6x7xui8> {
  %s = graph.constant dense<0.0625> : tensor<f32>
  %za = graph.constant dense<3> : tensor<ui8>
  %zb = graph.constant dense<5> : tensor<ui8>
  %0 = graph.qlinear_mul %x, %s, %za, %w, %s, %zb, %s, %za : (tensor<1x8x6x7xui8>, tensor<f32>, tensor<ui8>, tensor<1x1x6x7xui8>, tensor<f32>, tensor<ui8>, tensor<f32>, tensor<ui8>) -> tensor<1x8x6x7xui8>
  return %0 : tensor<1x8x6x7xui8>
}

// CHECK-LABEL: @width(
// CHECK: npu.call
func.func @width(%x: tensor<1x8x6x7xi8>, %w: tensor<7xi8>) -> tensor<1x8x6x7xi8> {
  %s = graph.constant dense<0.0625> : tensor<f32>
  %za = graph.constant dense<3> : tensor<i8>
  %zb = graph.constant dense<5> : tensor<i8>
  %0 = graph.qlinear_mul %x, %s, %za, %w, %s, %zb, %s, %za : (tensor<1x8x6x7xi8>, tensor<f32>, tensor<i8>, tensor<7xi8>, tensor<f32>, tensor<i8>, tensor<f32>, tensor<i8>) -> tensor<1x8x6x7xi8>
  return %0 : tensor<1x8x6x7xi8>
}

// CHECK-LABEL: @rank_3(
// CHECK: npu.call
func.func @rank_3(%x: tensor<8x6x7xui8>, %w: tensor<8x6x7xui8>) -> tensor<8x6x7xui8> {
  %s = graph.constant dense<0.0625> : tensor<f32>
  %za = graph.constant dense<3> : tensor<ui8>
  %zb = graph.constant dense<5> : tensor<ui8>
  %0 = graph.qlinear_mul %x, %s, %za, %w, %s, %zb, %s, %za : (tensor<8x6x7xui8>, tensor<f32>, tensor<ui8>, tensor<8x6x7xui8>, tensor<f32>, tensor<ui8>, tensor<f32>, tensor<ui8>) -> tensor<8x6x7xui8>
  return %0 : tensor<8x6x7xui8>
}

// CHECK-LABEL: @channels_last(
// CHECK: npu.call
func.func @channels_last(%x: tensor<6x7x8xi8>, %w: tensor<8xi8>) -> tensor<6x7x8xi8> {
  %s = graph.constant dense<0.0625> : tensor<f32>
  %za = graph.constant dense<3> : tensor<i8>
  %zb = graph.constant dense<5> : tensor<i8>
  %0 = graph.qlinear_mul %x, %s, %za, %w, %s, %zb, %s, %za : (tensor<6x7x8xi8>, tensor<f32>, tensor<i8>, tensor<8xi8>, tensor<f32>, tensor<i8>, tensor<f32>, tensor<i8>) -> tensor<6x7x8xi8>
  return %0 : tensor<6x7x8xi8>
}

// CHECK-LABEL: @tokens(
// CHECK: npu.call
func.func @tokens(%x: tensor<12x8xui8>, %w: tensor<12x8xui8>) -> tensor<12x8xui8> {
  %s = graph.constant dense<0.0625> : tensor<f32>
  %za = graph.constant dense<3> : tensor<ui8>
  %zb = graph.constant dense<5> : tensor<ui8>
  %0 = graph.qlinear_mul %x, %s, %za, %w, %s, %zb, %s, %za : (tensor<12x8xui8>, tensor<f32>, tensor<ui8>, tensor<12x8xui8>, tensor<f32>, tensor<ui8>, tensor<f32>, tensor<ui8>) -> tensor<12x8xui8>
  return %0 : tensor<12x8xui8>
}

// CHECK-LABEL: @tokens_by_channels(
// CHECK: npu.call
func.func @tokens_by_channels(%x: tensor<12x8xi8>, %w: tensor<8xi8>) -> tensor<12x8xi8> {
  %s = graph.constant dense<0.0625> : tensor<f32>
  %za = graph.constant dense<3> : tensor<i8>
  %zb = graph.constant dense<5> : tensor<i8>
  %0 = graph.qlinear_mul %x, %s, %za, %w, %s, %zb, %s, %za : (tensor<12x8xi8>, tensor<f32>, tensor<i8>, tensor<8xi8>, tensor<f32>, tensor<i8>, tensor<f32>, tensor<i8>) -> tensor<12x8xi8>
  return %0 : tensor<12x8xi8>
}

// CHECK-LABEL: @rank_1(
// CHECK: npu.call
func.func @rank_1(%x: tensor<9xui8>, %w: tensor<9xui8>) -> tensor<9xui8> {
  %s = graph.constant dense<0.0625> : tensor<f32>
  %za = graph.constant dense<3> : tensor<ui8>
  %zb = graph.constant dense<5> : tensor<ui8>
  %0 = graph.qlinear_mul %x, %s, %za, %w, %s, %zb, %s, %za : (tensor<9xui8>, tensor<f32>, tensor<ui8>, tensor<9xui8>, tensor<f32>, tensor<ui8>, tensor<f32>, tensor<ui8>) -> tensor<9xui8>
  return %0 : tensor<9xui8>
}

// CHECK-LABEL: @volume(
// CHECK: npu.call
func.func @volume(%x: tensor<2x2x3x4x5xi8>, %w: tensor<2x2x3x4x5xi8>) -> tensor<2x2x3x4x5xi8> {
  %s = graph.constant dense<0.0625> : tensor<f32>
  %za = graph.constant dense<3> : tensor<i8>
  %zb = graph.constant dense<5> : tensor<i8>
  %0 = graph.qlinear_mul %x, %s, %za, %w, %s, %zb, %s, %za : (tensor<2x2x3x4x5xi8>, tensor<f32>, tensor<i8>, tensor<2x2x3x4x5xi8>, tensor<f32>, tensor<i8>, tensor<f32>, tensor<i8>) -> tensor<2x2x3x4x5xi8>
  return %0 : tensor<2x2x3x4x5xi8>
}

// CHECK-LABEL: @outer(
// CHECK: npu.call
func.func @outer(%x: tensor<4x1xui8>, %w: tensor<1x6xui8>) -> tensor<4x6xui8> {
  %s = graph.constant dense<0.0625> : tensor<f32>
  %za = graph.constant dense<3> : tensor<ui8>
  %zb = graph.constant dense<5> : tensor<ui8>
  %0 = graph.qlinear_mul %x, %s, %za, %w, %s, %zb, %s, %za : (tensor<4x1xui8>, tensor<f32>, tensor<ui8>, tensor<1x6xui8>, tensor<f32>, tensor<ui8>, tensor<f32>, tensor<ui8>) -> tensor<4x6xui8>
  return %0 : tensor<4x6xui8>
}

// CHECK-LABEL: @batch(
// CHECK: npu.call
func.func @batch(%x: tensor<2x8x6x7xi8>, %w: tensor<2x8x6x7xi8>) -> tensor<2x8x6x7xi8> {
  %s = graph.constant dense<0.0625> : tensor<f32>
  %za = graph.constant dense<3> : tensor<i8>
  %zb = graph.constant dense<5> : tensor<i8>
  %0 = graph.qlinear_mul %x, %s, %za, %w, %s, %zb, %s, %za : (tensor<2x8x6x7xi8>, tensor<f32>, tensor<i8>, tensor<2x8x6x7xi8>, tensor<f32>, tensor<i8>, tensor<f32>, tensor<i8>) -> tensor<2x8x6x7xi8>
  return %0 : tensor<2x8x6x7xi8>
}

// CHECK-LABEL: @channels_of_batch(
// CHECK: npu.call
func.func @channels_of_batch(%x: tensor<2x8x6x7xui8>, %w: tensor<1x8x1x1xui8>) -> tensor<2x8x6x7xui8> {
  %s = graph.constant dense<0.0625> : tensor<f32>
  %za = graph.constant dense<3> : tensor<ui8>
  %zb = graph.constant dense<5> : tensor<ui8>
  %0 = graph.qlinear_mul %x, %s, %za, %w, %s, %zb, %s, %za : (tensor<2x8x6x7xui8>, tensor<f32>, tensor<ui8>, tensor<1x8x1x1xui8>, tensor<f32>, tensor<ui8>, tensor<f32>, tensor<ui8>) -> tensor<2x8x6x7xui8>
  return %0 : tensor<2x8x6x7xui8>
}

// CHECK-LABEL: @channels_of_images(
// CHECK: npu.call
func.func @channels_of_images(%x: tensor<2x8x6x7xi8>, %w: tensor<2x8x1x1xi8>) -> tensor<2x8x6x7xi8> {
  %s = graph.constant dense<0.0625> : tensor<f32>
  %za = graph.constant dense<3> : tensor<i8>
  %zb = graph.constant dense<5> : tensor<i8>
  %0 = graph.qlinear_mul %x, %s, %za, %w, %s, %zb, %s, %za : (tensor<2x8x6x7xi8>, tensor<f32>, tensor<i8>, tensor<2x8x1x1xi8>, tensor<f32>, tensor<i8>, tensor<f32>, tensor<i8>) -> tensor<2x8x6x7xi8>
  return %0 : tensor<2x8x6x7xi8>
}

// CHECK-LABEL: @three_channels(
// CHECK: npu.call
func.func @three_channels(%x: tensor<1x3x6x7xui8>, %w: tensor<1x3x6x7xui8>) -> tensor<1x3x6x7xui8> {
  %s = graph.constant dense<0.0625> : tensor<f32>
  %za = graph.constant dense<3> : tensor<ui8>
  %zb = graph.constant dense<5> : tensor<ui8>
  %0 = graph.qlinear_mul %x, %s, %za, %w, %s, %zb, %s, %za : (tensor<1x3x6x7xui8>, tensor<f32>, tensor<ui8>, tensor<1x3x6x7xui8>, tensor<f32>, tensor<ui8>, tensor<f32>, tensor<ui8>) -> tensor<1x3x6x7xui8>
  return %0 : tensor<1x3x6x7xui8>
}

// CHECK-LABEL: @scalars(
// CHECK: npu.call
func.func @scalars(%x: tensor<i8>, %w: tensor<i8>) -> tensor<i8> {
  %s = graph.constant dense<0.0625> : tensor<f32>
  %za = graph.constant dense<3> : tensor<i8>
  %zb = graph.constant dense<5> : tensor<i8>
  %0 = graph.qlinear_mul %x, %s, %za, %w, %s, %zb, %s, %za : (tensor<i8>, tensor<f32>, tensor<i8>, tensor<i8>, tensor<f32>, tensor<i8>, tensor<f32>, tensor<i8>) -> tensor<i8>
  return %0 : tensor<i8>
}
