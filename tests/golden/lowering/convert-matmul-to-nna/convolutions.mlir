// RUN: gradus opt %s --convert-matmul-to-nna | FileCheck %s

// An image as a matrix of patches: padding with the zero point, a slice for each tap, and a concatenation.
// CHECK-LABEL: func.func @integer(
// CHECK: graph.pad
// CHECK-COUNT-6: graph.slice
// CHECK: graph.concat
// CHECK: nna.call @nna0 %{{.*}}, %{{.*}} b_zero %{{.*}} : (tensor<5x18xi8>, tensor<18x12xui8>, tensor<ui8>) -> tensor<5x12xi32>
func.func @integer(%x: tensor<1x3x5x4xui8>, %w: tensor<5x3x3x2xi8>) -> tensor<1x5x4x3xi32> {
  %z = graph.constant dense<9> : tensor<ui8>
  %0 = graph.conv_integer %x, %w x_zero %z {pads = array<i64: 1, 0, 0, 0>} : (tensor<1x3x5x4xui8>, tensor<5x3x3x2xi8>, tensor<ui8>) -> tensor<1x5x4x3xi32>
  return %0 : tensor<1x5x4x3xi32>
}

// Filters of groups, with strides; requantization on the machine.
// CHECK-LABEL: func.func @groups(
// CHECK: nna.call @nna1 {{.*}} bias {{.*}} scale {{.*}} -> tensor<4x8xui8>
func.func @groups(%x: tensor<2x2x4x4xi8>) -> tensor<2x4x2x2xui8> {
  %w = graph.constant dense<[[[[1, 2]]], [[[-3, 4]]], [[[5, -6]]], [[[7, 127]]]]> : tensor<4x1x1x2xi8>
  %sw = graph.constant dense<[0.5, 0.25, 0.1, 0.01]> : tensor<4xf32>
  %zw = graph.constant dense<[0, 1, 0, -2]> : tensor<4xi8>
  %s = graph.constant dense<0.3> : tensor<f32>
  %z = graph.constant dense<-5> : tensor<i8>
  %sy = graph.constant dense<2.0> : tensor<f32>
  %zy = graph.constant dense<100> : tensor<ui8>
  %b = graph.constant dense<[1000, -7, 0, 30]> : tensor<4xi32>
  %0 = graph.qlinear_conv %x, %s, %z, %w, %sw, %zw, %sy, %zy, %b {group = 2 : i64, strides = array<i64: 2, 2>} : (tensor<2x2x4x4xi8>, tensor<f32>, tensor<i8>, tensor<4x1x1x2xi8>, tensor<4xf32>, tensor<4xi8>, tensor<f32>, tensor<ui8>, tensor<4xi32>) -> tensor<2x4x2x2xui8>
  return %0 : tensor<2x4x2x2xui8>
}

// A scale for each column: the product of the transposes.
// CHECK-LABEL: func.func @columns(
// CHECK: nna.call @nna2 {{.*}} : (tensor<2x3xi8>, tensor<3x2xui8>, {{.*}}) -> tensor<2x2xi8>
func.func @columns(%a: tensor<2x3xui8>, %b: tensor<3x2xi8>) -> tensor<2x2xi8> {
  %s = graph.constant dense<0.02> : tensor<f32>
  %z = graph.constant dense<3> : tensor<ui8>
  %sb = graph.constant dense<[0.5, 0.07]> : tensor<2xf32>
  %zb = graph.constant dense<[1, 0]> : tensor<2xi8>
  %zy = graph.constant dense<-1> : tensor<i8>
  %0 = graph.qlinear_matmul %a, %s, %z, %b, %sb, %zb, %s, %zy : (tensor<2x3xui8>, tensor<f32>, tensor<ui8>, tensor<3x2xi8>, tensor<2xf32>, tensor<2xi8>, tensor<f32>, tensor<i8>) -> tensor<2x2xi8>
  return %0 : tensor<2x2xi8>
}

// Depthwise: products of 32 channels each, by the same program. Parts of the channels are contiguous.
// CHECK-LABEL: func.func @depthwise(
// CHECK: graph.slice {{.*}} axes %{{[^ ]*}} : {{.*}} -> tensor<288x16xui8>
// CHECK-COUNT-16: nna.call @nna3 %{{.*}}, %{{.*}} b_zero %{{.*}} : (tensor<32x288xi8>, tensor<288x16xui8>, tensor<ui8>) -> tensor<32x16xi32>
// CHECK: graph.concat
func.func @depthwise(%x: tensor<1x512x4x4xui8>) -> tensor<1x512x4x4xi32> {
  %w = graph.constant dense<3> : tensor<512x1x3x3xi8>
  %z = graph.constant dense<9> : tensor<ui8>
  %0 = graph.conv_integer %x, %w x_zero %z {group = 512 : i64, pads = array<i64: 1, 1, 1, 1>} : (tensor<1x512x4x4xui8>, tensor<512x1x3x3xi8>, tensor<ui8>) -> tensor<1x512x4x4xi32>
  return %0 : tensor<1x512x4x4xi32>
}

// Of few channels the host would concatenate the results of two products: one has zeros for the channels of other groups.
// CHECK-LABEL: func.func @together(
// CHECK: nna.call @nna4 %{{.*}} : (tensor<64x576xi8>, tensor<576x16xui8>, tensor<ui8>) -> tensor<64x16xi32>
// CHECK-NOT: graph.concat
func.func @together(%x: tensor<1x64x4x4xui8>) -> tensor<1x64x4x4xi32> {
  %w = graph.constant dense<3> : tensor<64x1x3x3xi8>
  %z = graph.constant dense<9> : tensor<ui8>
  %0 = graph.conv_integer %x, %w x_zero %z {group = 64 : i64, pads = array<i64: 1, 1, 1, 1>} : (tensor<1x64x4x4xui8>, tensor<64x1x3x3xi8>, tensor<ui8>) -> tensor<1x64x4x4xi32>
  return %0 : tensor<1x64x4x4xi32>
}
