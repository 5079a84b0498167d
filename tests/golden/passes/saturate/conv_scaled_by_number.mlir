// RUN: gradus opt %s --saturate="target=cpu rules=graph-fuse floats=approx" --canonicalize | FileCheck %s

// A factor and a summand for all channels become part of the filters and of the bias.
// CHECK-LABEL: func.func @main
// CHECK: graph.conv
// CHECK-NEXT: return
func.func @main(%x: tensor<1x2x4x4xf32>) -> tensor<1x3x4x4xf32> {
  %w = graph.constant dense<[[[[1.0]], [[2.0]]], [[[3.0]], [[4.0]]], [[[5.0]], [[6.0]]]]> : tensor<3x2x1x1xf32>
  %b = graph.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
  %half = graph.constant dense<0.5> : tensor<1xf32>
  %three = graph.constant dense<3.0> : tensor<f32>
  %0 = graph.conv %x, %w, %b : (tensor<1x2x4x4xf32>, tensor<3x2x1x1xf32>, tensor<3xf32>) -> tensor<1x3x4x4xf32>
  %1 = graph.mul %0, %half : (tensor<1x3x4x4xf32>, tensor<1xf32>) -> tensor<1x3x4x4xf32>
  %2 = graph.add %1, %three : (tensor<1x3x4x4xf32>, tensor<f32>) -> tensor<1x3x4x4xf32>
  return %2 : tensor<1x3x4x4xf32>
}

// A factor of more axes than the result of the convolution stays.
// CHECK-LABEL: func.func @more_axes
// CHECK: graph.mul
func.func @more_axes(%x: tensor<1x2x4xf32>) -> tensor<1x1x3x4xf32> {
  %w = graph.constant dense<1.0> : tensor<3x2x1xf32>
  %half = graph.constant dense<0.5> : tensor<1x1x1x1xf32>
  %0 = graph.conv %x, %w : (tensor<1x2x4xf32>, tensor<3x2x1xf32>) -> tensor<1x3x4xf32>
  %1 = graph.mul %0, %half : (tensor<1x3x4xf32>, tensor<1x1x1x1xf32>) -> tensor<1x1x3x4xf32>
  return %1 : tensor<1x1x3x4xf32>
}
