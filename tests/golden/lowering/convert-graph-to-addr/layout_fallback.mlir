// RUN: gradus opt %s --convert-graph-to-addr="layout=NCWH4w min-run=1" --canonicalize

// A width in tiles of 4 under a filter of 3: no two tables, but an address for each.
func.func @crosses(%x: tensor<1x1x3x4xf32>, %w: tensor<1x1x2x3xf32>) -> tensor<1x1x2x2xf32> {
  %y = graph.conv %x, %w : (tensor<1x1x3x4xf32>, tensor<1x1x2x3xf32>) -> tensor<1x1x2x2xf32>
  return %y : tensor<1x1x2x2xf32>
}
func.func @crosses_a_tile(%x: tensor<1x1x2x6xf32>, %w: tensor<1x1x2x3xf32>) -> tensor<1x1x1x4xf32> {
  %y = graph.conv %x, %w : (tensor<1x1x2x6xf32>, tensor<1x1x2x3xf32>) -> tensor<1x1x1x4xf32>
  return %y : tensor<1x1x1x4xf32>
}
// A sequence has no height: channels last.
func.func @sequence(%x: tensor<1x2x5xf32>, %w: tensor<1x2x3xf32>) -> tensor<1x1x3xf32> {
  %y = graph.conv %x, %w : (tensor<1x2x5xf32>, tensor<1x2x3xf32>) -> tensor<1x1x3xf32>
  return %y : tensor<1x1x3xf32>
}
