// RUN: gradus check %s --convert-graph-to-npu | FileCheck %s

// A convolution of groups gives its operand blocks of two channels. A sum with that operand computes no padded channels of its own blocks of
// eight, since bytes behind the operand's rows are never written.
// CHECK: @summand: no difference
func.func @summand(%x: tensor<1x4x4x3xi8>, %y: tensor<1x4x4x3xi8>) -> (tensor<1x4x4x3xi8>, tensor<1x4x4x3xi8>) {
  %one = graph.constant dense<1.0> : tensor<f32>
  %zero = graph.constant dense<0> : tensor<i8>
  %w = graph.constant dense<1> : tensor<4x2x3x3xi8>
  %0 = graph.qlinear_conv %x, %one, %zero, %w, %one, %zero, %one, %zero {group = 2 : i64, pads = array<i64: 1, 1, 1, 1>} : (tensor<1x4x4x3xi8>, tensor<f32>, tensor<i8>, tensor<4x2x3x3xi8>, tensor<f32>, tensor<i8>, tensor<f32>, tensor<i8>) -> tensor<1x4x4x3xi8>
  %1 = graph.qlinear_add %y, %one, %zero, %x, %one, %zero, %one, %zero : (tensor<1x4x4x3xi8>, tensor<f32>, tensor<i8>, tensor<1x4x4x3xi8>, tensor<f32>, tensor<i8>, tensor<f32>, tensor<i8>) -> tensor<1x4x4x3xi8>
  return %0, %1 : tensor<1x4x4x3xi8>, tensor<1x4x4x3xi8>
}
