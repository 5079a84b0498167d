// RUN: gradus opt %s --saturate=target=npu | FileCheck %s

// The array multiplies bytes, and only in convolutions. A product of quantized tensors whose scales round alike in floats and in integers becomes
// the depthwise convolution that costs least.

// An image by an image is a layer as it is: a line of elements, each with a kernel of its own.
// CHECK-LABEL: @equal(
// CHECK: graph.qlinear_mul %arg0, {{.*}}, %arg1, {{.*}} -> tensor<1x16x8x8xi8>
func.func @equal(%a: tensor<1x16x8x8xi8>, %b: tensor<1x16x8x8xi8>) -> tensor<1x16x8x8xi8> {
  %s = graph.constant dense<0.0625> : tensor<f32>
  %z = graph.constant dense<3> : tensor<i8>
  %0 = graph.qlinear_mul %a, %s, %z, %b, %s, %z, %s, %z : (tensor<1x16x8x8xi8>, tensor<f32>, tensor<i8>, tensor<1x16x8x8xi8>, tensor<f32>, tensor<i8>, tensor<f32>, tensor<i8>) -> tensor<1x16x8x8xi8>
  return %0 : tensor<1x16x8x8xi8>
}

// CHECK-LABEL: @square(
func.func @square(%a: tensor<5x7xi8>, %b: tensor<5x7xi8>) -> tensor<5x7xi8> {
  %s = graph.constant dense<0.0625> : tensor<f32>
  %z = graph.constant dense<3> : tensor<i8>
  %0 = graph.qlinear_mul %a, %s, %z, %b, %s, %z, %s, %z : (tensor<5x7xi8>, tensor<f32>, tensor<i8>, tensor<5x7xi8>, tensor<f32>, tensor<i8>, tensor<f32>, tensor<i8>) -> tensor<5x7xi8>
  return %0 : tensor<5x7xi8>
}

// CHECK-LABEL: @channels(
// CHECK: graph.qlinear_conv %arg1, {{.*}} {group = 16 : i64}
func.func @channels(%a: tensor<1x16x1x1xui8>, %b: tensor<1x16x8x8xui8>) -> tensor<1x16x8x8xui8> {
  %s = graph.constant dense<0.0625> : tensor<f32>
  %z = graph.constant dense<3> : tensor<ui8>
  %0 = graph.qlinear_mul %a, %s, %z, %b, %s, %z, %s, %z : (tensor<1x16x1x1xui8>, tensor<f32>, tensor<ui8>, tensor<1x16x8x8xui8>, tensor<f32>, tensor<ui8>, tensor<f32>, tensor<ui8>) -> tensor<1x16x8x8xui8>
  return %0 : tensor<1x16x8x8xui8>
}

// A scalar is expanded to the channels, of which the array computes eight at a time.
// CHECK-LABEL: @scalar_of_rank_0(
// CHECK: graph.expand
// CHECK: graph.qlinear_conv %arg0, {{.*}} {group = 16 : i64}
func.func @scalar_of_rank_0(%a: tensor<1x16x8x8xui8>, %b: tensor<ui8>) -> tensor<1x16x8x8xui8> {
  %s = graph.constant dense<0.0625> : tensor<f32>
  %z = graph.constant dense<3> : tensor<ui8>
  %0 = graph.qlinear_mul %a, %s, %z, %b, %s, %z, %s, %z : (tensor<1x16x8x8xui8>, tensor<f32>, tensor<ui8>, tensor<ui8>, tensor<f32>, tensor<ui8>, tensor<f32>, tensor<ui8>) -> tensor<1x16x8x8xui8>
  return %0 : tensor<1x16x8x8xui8>
}

// CHECK-LABEL: @scalar_of_rank_1(
// CHECK: graph.qlinear_conv {{.*}} {group = 8 : i64}
func.func @scalar_of_rank_1(%a: tensor<1xi8>, %b: tensor<64x8xi8>) -> tensor<64x8xi8> {
  %s = graph.constant dense<0.0625> : tensor<f32>
  %z = graph.constant dense<3> : tensor<i8>
  %0 = graph.qlinear_mul %a, %s, %z, %b, %s, %z, %s, %z : (tensor<1xi8>, tensor<f32>, tensor<i8>, tensor<64x8xi8>, tensor<f32>, tensor<i8>, tensor<f32>, tensor<i8>) -> tensor<64x8xi8>
  return %0 : tensor<64x8xi8>
}

// CHECK-LABEL: @vectors(
// CHECK: graph.qlinear_conv {{.*}} {group = 64 : i64} : (tensor<1x64x1x1xi8>
func.func @vectors(%a: tensor<64xi8>, %b: tensor<64xi8>) -> tensor<64xi8> {
  %s = graph.constant dense<0.0625> : tensor<f32>
  %z = graph.constant dense<3> : tensor<i8>
  %0 = graph.qlinear_mul %a, %s, %z, %b, %s, %z, %s, %z : (tensor<64xi8>, tensor<f32>, tensor<i8>, tensor<64xi8>, tensor<f32>, tensor<i8>, tensor<f32>, tensor<i8>) -> tensor<64xi8>
  return %0 : tensor<64xi8>
}

// One factor per image and channel: the batch becomes part of the channels.
// CHECK-LABEL: @channels_of_images(
// CHECK: graph.qlinear_conv {{.*}} {group = 32 : i64} : (tensor<1x32x64x1xi8>
func.func @channels_of_images(%a: tensor<2x16x8x8xi8>, %b: tensor<2x16x1x1xi8>) -> tensor<2x16x8x8xi8> {
  %s = graph.constant dense<0.0625> : tensor<f32>
  %z = graph.constant dense<3> : tensor<i8>
  %0 = graph.qlinear_mul %a, %s, %z, %b, %s, %z, %s, %z : (tensor<2x16x8x8xi8>, tensor<f32>, tensor<i8>, tensor<2x16x1x1xi8>, tensor<f32>, tensor<i8>, tensor<f32>, tensor<i8>) -> tensor<2x16x8x8xi8>
  return %0 : tensor<2x16x8x8xi8>
}

// CHECK-LABEL: @row(
// CHECK: graph.qlinear_conv {{.*}} {group = 8 : i64} : (tensor<64x8x1x1xui8>
func.func @row(%a: tensor<64x8xui8>, %b: tensor<8xui8>) -> tensor<64x8xui8> {
  %s = graph.constant dense<0.0625> : tensor<f32>
  %z = graph.constant dense<3> : tensor<ui8>
  %0 = graph.qlinear_mul %a, %s, %z, %b, %s, %z, %s, %z : (tensor<64x8xui8>, tensor<f32>, tensor<ui8>, tensor<8xui8>, tensor<f32>, tensor<ui8>, tensor<f32>, tensor<ui8>) -> tensor<64x8xui8>
  return %0 : tensor<64x8xui8>
}

// CHECK-LABEL: @tokens(
// CHECK: graph.qlinear_conv {{.*}} {group = 32 : i64} : (tensor<16x32x1x1xi8>
func.func @tokens(%a: tensor<1x16x32xi8>, %b: tensor<32xi8>) -> tensor<1x16x32xi8> {
  %s = graph.constant dense<0.0625> : tensor<f32>
  %z = graph.constant dense<3> : tensor<i8>
  %0 = graph.qlinear_mul %a, %s, %z, %b, %s, %z, %s, %z : (tensor<1x16x32xi8>, tensor<f32>, tensor<i8>, tensor<32xi8>, tensor<f32>, tensor<i8>, tensor<f32>, tensor<i8>) -> tensor<1x16x32xi8>
  return %0 : tensor<1x16x32xi8>
}

// CHECK-LABEL: @column(
// CHECK: graph.qlinear_conv {{.*}} {group = 4 : i64} : (tensor<1x4x8x1xui8>
func.func @column(%a: tensor<4x1xui8>, %b: tensor<4x8xui8>) -> tensor<4x8xui8> {
  %s = graph.constant dense<0.0625> : tensor<f32>
  %z = graph.constant dense<3> : tensor<ui8>
  %0 = graph.qlinear_mul %a, %s, %z, %b, %s, %z, %s, %z : (tensor<4x1xui8>, tensor<f32>, tensor<ui8>, tensor<4x8xui8>, tensor<f32>, tensor<ui8>, tensor<f32>, tensor<ui8>) -> tensor<4x8xui8>
  return %0 : tensor<4x8xui8>
}

// CHECK-LABEL: @mask(
// CHECK: graph.qlinear_conv {{.*}} {group = 64 : i64} : (tensor<16x64x1x1xi8>
func.func @mask(%a: tensor<1x16x8x8xi8>, %b: tensor<1x1x8x8xi8>) -> tensor<1x16x8x8xi8> {
  %s = graph.constant dense<0.0625> : tensor<f32>
  %z = graph.constant dense<3> : tensor<i8>
  %0 = graph.qlinear_mul %a, %s, %z, %b, %s, %z, %s, %z : (tensor<1x16x8x8xi8>, tensor<f32>, tensor<i8>, tensor<1x1x8x8xi8>, tensor<f32>, tensor<i8>, tensor<f32>, tensor<i8>) -> tensor<1x16x8x8xi8>
  return %0 : tensor<1x16x8x8xi8>
}

// CHECK-LABEL: @five_axes(
// CHECK: graph.qlinear_conv {{.*}} {group = 768 : i64}
func.func @five_axes(%a: tensor<1x4x3x8x8xui8>, %b: tensor<1x4x3x8x8xui8>) -> tensor<1x4x3x8x8xui8> {
  %s = graph.constant dense<0.0625> : tensor<f32>
  %z = graph.constant dense<3> : tensor<ui8>
  %0 = graph.qlinear_mul %a, %s, %z, %b, %s, %z, %s, %z : (tensor<1x4x3x8x8xui8>, tensor<f32>, tensor<ui8>, tensor<1x4x3x8x8xui8>, tensor<f32>, tensor<ui8>, tensor<f32>, tensor<ui8>) -> tensor<1x4x3x8x8xui8>
  return %0 : tensor<1x4x3x8x8xui8>
}

// With these scales some pairs of bytes round otherwise in integers.
// CHECK-LABEL: @other_rounding(
// CHECK: graph.qlinear_mul
// CHECK-NOT: graph.qlinear_conv
func.func @other_rounding(%a: tensor<4x8xui8>, %b: tensor<8xui8>) -> tensor<4x8xui8> {
  %s = graph.constant dense<0.3> : tensor<f32>
  %t = graph.constant dense<0.7> : tensor<f32>
  %z = graph.constant dense<3> : tensor<ui8>
  %0 = graph.qlinear_mul %a, %s, %z, %b, %t, %z, %s, %z : (tensor<4x8xui8>, tensor<f32>, tensor<ui8>, tensor<8xui8>, tensor<f32>, tensor<ui8>, tensor<f32>, tensor<ui8>) -> tensor<4x8xui8>
  return %0 : tensor<4x8xui8>
}

// The array has no floats: the host multiplies, with or without a convolution.
// CHECK-LABEL: @floats(
// CHECK: graph.mul
// CHECK-NOT: graph.conv
func.func @floats(%a: tensor<1x16x8x8xf32>, %b: tensor<16x1x1xf32>) -> tensor<1x16x8x8xf32> {
  %0 = graph.mul %a, %b : (tensor<1x16x8x8xf32>, tensor<16x1x1xf32>) -> tensor<1x16x8x8xf32>
  return %0 : tensor<1x16x8x8xf32>
}
