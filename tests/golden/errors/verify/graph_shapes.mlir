// RUN: gradus opt %s --split-input-file --verify-diagnostics

// Incompatible operand shapes, and result shapes other than the inferred ones.
func.func @matmul(%a: tensor<2x3xf32>, %b: tensor<4x5xf32>) {
  // expected-error@+1 {{a matrix product of [2, 3] by [4, 5] is not defined: extents 3 and 4 should be equal}}
  %0 = graph.matmul %a, %b : (tensor<2x3xf32>, tensor<4x5xf32>) -> tensor<2x5xf32>
  return
}

// -----

func.func @result(%a: tensor<2x3xf32>, %b: tensor<3x5xf32>) {
  // expected-error@+1 {{inferred type 'tensor<2x5xf32>' is incompatible with the result's type 'tensor<2x4xf32>'}}
  %0 = graph.matmul %a, %b : (tensor<2x3xf32>, tensor<3x5xf32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @broadcast(%a: tensor<2x3xf32>, %b: tensor<4xf32>) {
  // expected-error@+1 {{shapes [2, 3] and [4] do not broadcast}}
  %0 = graph.add %a, %b : (tensor<2x3xf32>, tensor<4xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @conv(%x: tensor<1x3x8x8xf32>, %w: tensor<4x2x3x3xf32>) {
  // expected-error@+1 {{channels do not match the groups}}
  %0 = graph.conv %x, %w : (tensor<1x3x8x8xf32>, tensor<4x2x3x3xf32>) -> tensor<1x4x6x6xf32>
  return
}

// -----

func.func @wide_integers(%x: tensor<1x3x8xi32>, %w: tensor<3x1x1xi8>) {
  // expected-error@+1 {{operand #0 must be tensor of 8-bit integer values, but got 'tensor<1x3x8xi32>'}}
  %0 = graph.conv_integer %x, %w {group = 3 : i64} : (tensor<1x3x8xi32>, tensor<3x1x1xi8>) -> tensor<1x3x8xi32>
  return
}

// -----

func.func @scales(%a: tensor<2x3xi8>, %b: tensor<3x2xi8>, %s: tensor<f32>, %t: tensor<2xf32>, %z: tensor<i8>, %w: tensor<3xi8>) {
  // expected-error@+1 {{requires 'b_scale' and 'b_zero_point' of the same shape, or one element}}
  %0 = graph.qlinear_matmul %a, %s, %z, %b, %t, %w, %s, %z : (tensor<2x3xi8>, tensor<f32>, tensor<i8>, tensor<3x2xi8>, tensor<2xf32>, tensor<3xi8>, tensor<f32>, tensor<i8>) -> tensor<2x2xi8>
  return
}

// -----

func.func @scales_of_result(%a: tensor<2x3xi8>, %b: tensor<3x2xi8>, %s: tensor<f32>, %z: tensor<i8>, %t: tensor<2xf32>, %w: tensor<2xi8>) {
  // expected-error@+1 {{requires one element in 'y_scale' and 'y_zero_point', not 2}}
  %0 = graph.qlinear_matmul %a, %s, %z, %b, %s, %z, %t, %w : (tensor<2x3xi8>, tensor<f32>, tensor<i8>, tensor<3x2xi8>, tensor<f32>, tensor<i8>, tensor<2xf32>, tensor<2xi8>) -> tensor<2x2xi8>
  return
}
