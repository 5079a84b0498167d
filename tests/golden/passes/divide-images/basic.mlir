// RUN: gradus opt %s --divide-images

// All images between the first convolution, which only writes bands, and the last depthwise one, whose result has too few positions.
func.func @chain(%x: tensor<1x3x34x34xf32>) -> tensor<1x8x8x8xf32> {
  %u = graph.constant dense<0.0> : tensor<8x3x3x3xf32>
  %w = graph.constant dense<0.0> : tensor<8x8x1x1xf32>
  %d = graph.constant dense<0.5> : tensor<8x1x3x3xf32>
  %0 = sparse.conv %x, %u {strides = array<i64: 2, 2>} : (tensor<1x3x34x34xf32>, tensor<8x3x3x3xf32>) -> tensor<1x8x16x16xf32>
  %1 = graph.relu %0 : tensor<1x8x16x16xf32>
  %2 = sparse.conv %1, %w : (tensor<1x8x16x16xf32>, tensor<8x8x1x1xf32>) -> tensor<1x8x16x16xf32>
  %3 = graph.add %1, %2 : (tensor<1x8x16x16xf32>, tensor<1x8x16x16xf32>) -> tensor<1x8x16x16xf32>
  %4 = graph.conv %3, %d {group = 8 : i64, layout.images = #layout.tiled<"NCHW">, pads = array<i64: 1, 1, 1, 1>} : (tensor<1x8x16x16xf32>, tensor<8x1x3x3xf32>) -> tensor<1x8x16x16xf32>
  %5 = graph.conv %4, %d {group = 8 : i64, layout.images = #layout.tiled<"NCHW">, pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 2, 2>} : (tensor<1x8x16x16xf32>, tensor<8x1x3x3xf32>) -> tensor<1x8x8x8xf32>
  return %5 : tensor<1x8x8x8xf32>
}
// A window reads rows of other bands, and a transposition has no form for bands: so have neither the sum nor its operands.
func.func @other_readers(%x: tensor<1x8x16x16xf32>) -> (tensor<1x8x14x14xf32>, tensor<16x16x8x1xf32>) {
  %u = graph.constant dense<0.0> : tensor<8x8x3x3xf32>
  %w = graph.constant dense<0.0> : tensor<8x8x1x1xf32>
  %0 = sparse.conv %x, %w : (tensor<1x8x16x16xf32>, tensor<8x8x1x1xf32>) -> tensor<1x8x16x16xf32>
  %1 = sparse.conv %0, %u : (tensor<1x8x16x16xf32>, tensor<8x8x3x3xf32>) -> tensor<1x8x14x14xf32>
  %2 = sparse.conv %x, %w : (tensor<1x8x16x16xf32>, tensor<8x8x1x1xf32>) -> tensor<1x8x16x16xf32>
  %3 = sparse.conv %2, %w : (tensor<1x8x16x16xf32>, tensor<8x8x1x1xf32>) -> tensor<1x8x16x16xf32>
  %4 = graph.add %2, %3 : (tensor<1x8x16x16xf32>, tensor<1x8x16x16xf32>) -> tensor<1x8x16x16xf32>
  %5 = graph.transpose %4 {perm = array<i64: 3, 2, 1, 0>} : (tensor<1x8x16x16xf32>) -> tensor<16x16x8x1xf32>
  return %1, %5 : tensor<1x8x14x14xf32>, tensor<16x16x8x1xf32>
}
// Strides read every other row of a band if it has an even number of rows: of 16, not of 14.
func.func @strides(%x: tensor<1x8x16x16xf32>, %y: tensor<1x8x14x14xf32>) -> (tensor<1x8x8x8xf32>, tensor<1x8x7x7xf32>) {
  %w = graph.constant dense<0.0> : tensor<8x8x1x1xf32>
  %0 = sparse.conv %x, %w : (tensor<1x8x16x16xf32>, tensor<8x8x1x1xf32>) -> tensor<1x8x16x16xf32>
  %1 = sparse.conv %0, %w {strides = array<i64: 2, 2>} : (tensor<1x8x16x16xf32>, tensor<8x8x1x1xf32>) -> tensor<1x8x8x8xf32>
  %2 = sparse.conv %y, %w : (tensor<1x8x14x14xf32>, tensor<8x8x1x1xf32>) -> tensor<1x8x14x14xf32>
  %3 = sparse.conv %2, %w {strides = array<i64: 2, 2>} : (tensor<1x8x14x14xf32>, tensor<8x8x1x1xf32>) -> tensor<1x8x7x7xf32>
  return %1, %3 : tensor<1x8x8x8xf32>, tensor<1x8x7x7xf32>
}
// Batches, and rows that two bands do not divide.
func.func @refused(%x: tensor<2x8x16x16xf32>, %y: tensor<1x8x15x16xf32>) -> (tensor<2x8x16x16xf32>, tensor<1x8x15x16xf32>) {
  %w = graph.constant dense<0.0> : tensor<8x8x1x1xf32>
  %0 = sparse.conv %x, %w : (tensor<2x8x16x16xf32>, tensor<8x8x1x1xf32>) -> tensor<2x8x16x16xf32>
  %1 = sparse.conv %0, %w : (tensor<2x8x16x16xf32>, tensor<8x8x1x1xf32>) -> tensor<2x8x16x16xf32>
  %2 = sparse.conv %y, %w : (tensor<1x8x15x16xf32>, tensor<8x8x1x1xf32>) -> tensor<1x8x15x16xf32>
  %3 = sparse.conv %2, %w : (tensor<1x8x15x16xf32>, tensor<8x8x1x1xf32>) -> tensor<1x8x15x16xf32>
  return %1, %3 : tensor<2x8x16x16xf32>, tensor<1x8x15x16xf32>
}
