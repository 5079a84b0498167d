// RUN: gradus opt %s --convert-graph-to-cluster | FileCheck %s

// COM: The outputs at the edges read the padding only: no element of the input, wherever the tile of a cluster begins.
// CHECK-LABEL: func.func @padding
// CHECK:         cluster.call
func.func @padding(%x: tensor<1x1x8x8xf32>) -> (tensor<1x1x10x10xf32>, tensor<1x1x5x4xf32>) {
  %w = graph.constant dense<2.0> : tensor<1x1x1x1xf32>
  %b = graph.constant dense<1.0> : tensor<1xf32>
  %0 = graph.conv %x, %w, %b {pads = array<i64: 1, 1, 1, 1>} : (tensor<1x1x8x8xf32>, tensor<1x1x1x1xf32>, tensor<1xf32>) -> tensor<1x1x10x10xf32>
  %1 = graph.conv %x, %w, %b {pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 2, 3>} : (tensor<1x1x8x8xf32>, tensor<1x1x1x1xf32>, tensor<1xf32>) -> tensor<1x1x5x4xf32>
  return %0, %1 : tensor<1x1x10x10xf32>, tensor<1x1x5x4xf32>
}
