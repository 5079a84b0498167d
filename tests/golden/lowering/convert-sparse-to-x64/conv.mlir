// RUN: gradus opt %s --split-input-file --convert-sparse-to-x64="isa=avx512 code=ops"

// A 1x1 convolution is a product with the image as it is; bias, residual and clamp are computed before the store.
func.func @main(%x: tensor<1x3x2x8xf32>, %r: tensor<1x2x2x8xf32>) -> tensor<1x2x2x8xf32> {
  %w = arith.constant dense<[[[[1.0]], [[0.0]], [[0.0]]], [[[0.0]], [[0.0]], [[2.0]]]]> : tensor<2x3x1x1xf32>
  %b = arith.constant dense<[0.5, 0.0]> : tensor<2xf32>
  %0 = sparse.conv %x, %w, %b : (tensor<1x3x2x8xf32>, tensor<2x3x1x1xf32>, tensor<2xf32>) -> tensor<1x2x2x8xf32>
  %1 = graph.add %0, %r : (tensor<1x2x2x8xf32>, tensor<1x2x2x8xf32>) -> tensor<1x2x2x8xf32>
  %2 = graph.relu %1 : tensor<1x2x2x8xf32>
  return %2 : tensor<1x2x2x8xf32>
}

// -----

// A window with padding: taps are offsets in the padded image, whose rows have 6 elements.
func.func @main(%x: tensor<1x1x4x4xf32>) -> tensor<1x1x4x4xf32> {
  %w = arith.constant dense<[[[[0.0, 0.0, 0.0], [0.0, 0.0, 3.0], [0.0, -3.0, 0.0]]]]> : tensor<1x1x3x3xf32>
  %0 = sparse.conv %x, %w {pads = array<i64: 1, 1, 1, 1>} : (tensor<1x1x4x4xf32>, tensor<1x1x3x3xf32>) -> tensor<1x1x4x4xf32>
  return %0 : tensor<1x1x4x4xf32>
}

// -----

// Rows of the output that fill vectors are strips: columns between them would be computed and sliced off.
func.func @main(%x: tensor<1x1x2x16xf32>, %r: tensor<1x1x2x16xf32>) -> tensor<1x1x2x16xf32> {
  %w = arith.constant dense<[[[[0.0, 0.0, 0.0], [0.0, 0.0, 3.0], [0.0, 0.0, 0.0]]]]> : tensor<1x1x3x3xf32>
  %0 = sparse.conv %x, %w {pads = array<i64: 1, 1, 1, 1>} : (tensor<1x1x2x16xf32>, tensor<1x1x3x3xf32>) -> tensor<1x1x2x16xf32>
  %1 = graph.add %0, %r : (tensor<1x1x2x16xf32>, tensor<1x1x2x16xf32>) -> tensor<1x1x2x16xf32>
  return %1 : tensor<1x1x2x16xf32>
}

// -----

// Without code, the convolution stays: a dense one would multiply zeros by infinities.
func.func @main(%x: tensor<2x1x4xf32>) -> tensor<2x1x4xf32> {
  %w = arith.constant dense<2.0> : tensor<1x1x1xf32>
  %0 = sparse.conv %x, %w : (tensor<2x1x4xf32>, tensor<1x1x1xf32>) -> tensor<2x1x4xf32>
  return %0 : tensor<2x1x4xf32>
}
