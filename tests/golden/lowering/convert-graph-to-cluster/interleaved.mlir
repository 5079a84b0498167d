// RUN: gradus check %s --convert-graph-to-cluster=clusters=4 --floats=rounding | FileCheck %s

// The second half of the concatenation, a channel shuffle, is read before the first half is written: its rows go to other clusters before.
// CHECK: @shuffled: no difference
func.func @shuffled(%x: tensor<1x2x8x7xf32>) -> (tensor<1x4x8x7xf32>, tensor<1x2x8x7xf32>, tensor<1x2x8x7xf32>, tensor<1x2x8x7xf32>) {
  %groups = graph.constant dense<[1, 2, 1, 8, 7]> : tensor<5xi64>
  %extents = graph.constant dense<[1, 2, 8, 7]> : tensor<4xi64>
  %0 = graph.reshape %x, %groups : (tensor<1x2x8x7xf32>, tensor<5xi64>) -> tensor<1x2x1x8x7xf32>
  %1 = graph.transpose %0 {perm = array<i64: 0, 2, 1, 3, 4>} : (tensor<1x2x1x8x7xf32>) -> tensor<1x1x2x8x7xf32>
  %2 = graph.reshape %1, %extents : (tensor<1x1x2x8x7xf32>, tensor<4xi64>) -> tensor<1x2x8x7xf32>
  %3 = graph.relu %x : tensor<1x2x8x7xf32>
  %4 = graph.sigmoid %2 : tensor<1x2x8x7xf32>
  %5 = graph.concat %4, %2 {axis = 1 : i64} : (tensor<1x2x8x7xf32>, tensor<1x2x8x7xf32>) -> tensor<1x4x8x7xf32>
  %6 = graph.mul %4, %4 : (tensor<1x2x8x7xf32>, tensor<1x2x8x7xf32>) -> tensor<1x2x8x7xf32>
  return %5, %3, %4, %6 : tensor<1x4x8x7xf32>, tensor<1x2x8x7xf32>, tensor<1x2x8x7xf32>, tensor<1x2x8x7xf32>
}

// One half of the operand of a shuffle is also read by itself, before the other is written: it is not written at a distance.
// CHECK: @read_before: no difference
func.func @read_before(%x: tensor<1x4x9x7xf32>) -> (tensor<1x8x9x7xf32>, tensor<1x4x7x7xf32>) {
  %w = graph.constant dense<0.5> : tensor<4x4x3x3xf32>
  %v = graph.constant dense<0.25> : tensor<4x4x1x1xf32>
  %groups = graph.constant dense<[1, 2, 4, 9, 7]> : tensor<5xi64>
  %extents = graph.constant dense<[1, 8, 9, 7]> : tensor<4xi64>
  %0 = graph.conv %x, %w {pads = array<i64: 1, 1, 1, 1>} : (tensor<1x4x9x7xf32>, tensor<4x4x3x3xf32>) -> tensor<1x4x9x7xf32>
  %1 = graph.conv %0, %w {pads = array<i64: 0, 1, 0, 1>} : (tensor<1x4x9x7xf32>, tensor<4x4x3x3xf32>) -> tensor<1x4x7x7xf32>
  %2 = graph.conv %x, %v : (tensor<1x4x9x7xf32>, tensor<4x4x1x1xf32>) -> tensor<1x4x9x7xf32>
  %3 = graph.concat %0, %2 {axis = 1 : i64} : (tensor<1x4x9x7xf32>, tensor<1x4x9x7xf32>) -> tensor<1x8x9x7xf32>
  %4 = graph.reshape %3, %groups : (tensor<1x8x9x7xf32>, tensor<5xi64>) -> tensor<1x2x4x9x7xf32>
  %5 = graph.transpose %4 {perm = array<i64: 0, 2, 1, 3, 4>} : (tensor<1x2x4x9x7xf32>) -> tensor<1x4x2x9x7xf32>
  %6 = graph.reshape %5, %extents : (tensor<1x4x2x9x7xf32>, tensor<4xi64>) -> tensor<1x8x9x7xf32>
  return %6, %1 : tensor<1x8x9x7xf32>, tensor<1x4x7x7xf32>
}
