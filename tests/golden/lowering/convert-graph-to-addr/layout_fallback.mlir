// RUN: gradus opt %s --convert-graph-to-addr="layout=NCWH4w min-run=1" --canonicalize

// Width in tiles of 4 under a filter of width 3 is not separable: one base per row and run.
func.func @crosses(%x: tensor<1x1x3x4xf32>, %w: tensor<1x1x2x3xf32>) -> tensor<1x1x2x2xf32> {
  %y = graph.conv %x, %w : (tensor<1x1x3x4xf32>, tensor<1x1x2x3xf32>) -> tensor<1x1x2x2xf32>
  return %y : tensor<1x1x2x2xf32>
}
func.func @crosses_a_tile(%x: tensor<1x1x2x6xf32>, %w: tensor<1x1x2x3xf32>) -> tensor<1x1x1x4xf32> {
  %y = graph.conv %x, %w : (tensor<1x1x2x6xf32>, tensor<1x1x2x3xf32>) -> tensor<1x1x1x4xf32>
  return %y : tensor<1x1x1x4xf32>
}
// A 1-D convolution has no H: the layout is NCW4w.
func.func @sequence(%x: tensor<1x2x5xf32>, %w: tensor<1x2x3xf32>) -> tensor<1x1x3xf32> {
  %y = graph.conv %x, %w : (tensor<1x2x5xf32>, tensor<1x2x3xf32>) -> tensor<1x1x3xf32>
  return %y : tensor<1x1x3xf32>
}
