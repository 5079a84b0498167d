// RUN: gradus opt %s --choose-layouts

// A depthwise convolution between two sparse convolutions is computed with channels first.
func.func @between_sparse(%x: tensor<1x16x40x40xf32>) -> tensor<1x4x40x40xf32> {
  %w = graph.constant dense<0.0> : tensor<16x16x1x1xf32>
  %d = graph.constant dense<0.5> : tensor<16x1x3x3xf32>
  %v = graph.constant dense<0.0> : tensor<4x16x1x1xf32>
  %0 = sparse.conv %x, %w : (tensor<1x16x40x40xf32>, tensor<16x16x1x1xf32>) -> tensor<1x16x40x40xf32>
  %1 = graph.relu %0 : tensor<1x16x40x40xf32>
  %2 = graph.conv %1, %d {group = 16 : i64, pads = array<i64: 1, 1, 1, 1>} : (tensor<1x16x40x40xf32>, tensor<16x1x3x3xf32>) -> tensor<1x16x40x40xf32>
  %3 = sparse.conv %2, %v : (tensor<1x16x40x40xf32>, tensor<4x16x1x1xf32>) -> tensor<1x4x40x40xf32>
  return %3 : tensor<1x4x40x40xf32>
}
// The convolution with filters of zeros becomes dense, since its image would have to be changed.
func.func @beside_dense(%x: tensor<1x64x40x40xf32>) -> tensor<1x64x40x40xf32> {
  %w = graph.constant dense<0.5> : tensor<64x64x3x3xf32>
  %v = graph.constant dense<0.0> : tensor<4x64x1x1xf32>
  %u = graph.constant dense<0.5> : tensor<64x4x1x1xf32>
  %0 = graph.conv %x, %w {pads = array<i64: 1, 1, 1, 1>} : (tensor<1x64x40x40xf32>, tensor<64x64x3x3xf32>) -> tensor<1x64x40x40xf32>
  %1 = sparse.conv %0, %v : (tensor<1x64x40x40xf32>, tensor<4x64x1x1xf32>) -> tensor<1x4x40x40xf32>
  %2 = graph.conv %1, %u : (tensor<1x4x40x40xf32>, tensor<64x4x1x1xf32>) -> tensor<1x64x40x40xf32>
  %3 = graph.add %0, %2 : (tensor<1x64x40x40xf32>, tensor<1x64x40x40xf32>) -> tensor<1x64x40x40xf32>
  %4 = graph.conv %3, %w {pads = array<i64: 1, 1, 1, 1>} : (tensor<1x64x40x40xf32>, tensor<64x64x3x3xf32>) -> tensor<1x64x40x40xf32>
  return %4 : tensor<1x64x40x40xf32>
}
// A value with channels first is changed once before a sum and a pool with channels last.
func.func @changed_once(%x: tensor<1x16x40x40xf32>, %y: tensor<1x16x40x40xf32>) -> tensor<1x16x13x13xf32> {
  %w = graph.constant dense<0.0> : tensor<16x16x1x1xf32>
  %d = graph.constant dense<0.5> : tensor<16x16x3x3xf32>
  %0 = sparse.conv %x, %w : (tensor<1x16x40x40xf32>, tensor<16x16x1x1xf32>) -> tensor<1x16x40x40xf32>
  %1 = graph.conv %y, %d {pads = array<i64: 1, 1, 1, 1>} : (tensor<1x16x40x40xf32>, tensor<16x16x3x3xf32>) -> tensor<1x16x40x40xf32>
  %2 = graph.conv %1, %d {pads = array<i64: 1, 1, 1, 1>} : (tensor<1x16x40x40xf32>, tensor<16x16x3x3xf32>) -> tensor<1x16x40x40xf32>
  %3 = graph.add %0, %1 : (tensor<1x16x40x40xf32>, tensor<1x16x40x40xf32>) -> tensor<1x16x40x40xf32>
  %4 = graph.add %3, %2 : (tensor<1x16x40x40xf32>, tensor<1x16x40x40xf32>) -> tensor<1x16x40x40xf32>
  %5 = graph.max_pool %4 {kernel_shape = array<i64: 3, 3>, strides = array<i64: 3, 3>} : (tensor<1x16x40x40xf32>) -> tensor<1x16x13x13xf32>
  return %5 : tensor<1x16x13x13xf32>
}
// Without filters that are mostly zeros, and with many channels, everything stays.
func.func @dense(%x: tensor<1x32x40x40xf32>) -> tensor<1x32x40x40xf32> {
  %d = graph.constant dense<0.5> : tensor<32x1x3x3xf32>
  %w = graph.constant dense<0.5> : tensor<32x32x1x1xf32>
  %0 = graph.conv %x, %d {group = 32 : i64, pads = array<i64: 1, 1, 1, 1>} : (tensor<1x32x40x40xf32>, tensor<32x1x3x3xf32>) -> tensor<1x32x40x40xf32>
  %1 = graph.conv %0, %w : (tensor<1x32x40x40xf32>, tensor<32x32x1x1xf32>) -> tensor<1x32x40x40xf32>
  return %1 : tensor<1x32x40x40xf32>
}
// A depthwise convolution that stands alone would change the layout of its image and of its result.
func.func @alone(%x: tensor<1x32x40x40xf32>) -> tensor<1x32x40x40xf32> {
  %d = graph.constant dense<0.5> : tensor<32x1x3x3xf32>
  %0 = graph.conv %x, %d {group = 32 : i64, pads = array<i64: 1, 1, 1, 1>} : (tensor<1x32x40x40xf32>, tensor<32x1x3x3xf32>) -> tensor<1x32x40x40xf32>
  return %0 : tensor<1x32x40x40xf32>
}
// A pool keeps the layout of its image, unless it stands between convolutions with channels last.
func.func @pools(%x: tensor<1x32x40x40xf32>) -> tensor<1x32x10x10xf32> {
  %w = graph.constant dense<0.5> : tensor<32x32x3x3xf32>
  %0 = graph.average_pool %x {kernel_shape = array<i64: 2, 2>, strides = array<i64: 2, 2>} : (tensor<1x32x40x40xf32>) -> tensor<1x32x20x20xf32>
  %1 = graph.conv %0, %w {pads = array<i64: 1, 1, 1, 1>} : (tensor<1x32x20x20xf32>, tensor<32x32x3x3xf32>) -> tensor<1x32x20x20xf32>
  %2 = graph.max_pool %1 {kernel_shape = array<i64: 2, 2>, strides = array<i64: 2, 2>} : (tensor<1x32x20x20xf32>) -> tensor<1x32x10x10xf32>
  %3 = graph.conv %2, %w {pads = array<i64: 1, 1, 1, 1>} : (tensor<1x32x10x10xf32>, tensor<32x32x3x3xf32>) -> tensor<1x32x10x10xf32>
  return %3 : tensor<1x32x10x10xf32>
}
// A few channels do not fill a vector.
func.func @few_channels(%x: tensor<1x8x40x40xf32>) -> tensor<1x8x40x40xf32> {
  %d = graph.constant dense<0.5> : tensor<8x1x3x3xf32>
  %0 = graph.conv %x, %d {group = 8 : i64, pads = array<i64: 1, 1, 1, 1>} : (tensor<1x8x40x40xf32>, tensor<8x1x3x3xf32>) -> tensor<1x8x40x40xf32>
  return %0 : tensor<1x8x40x40xf32>
}
