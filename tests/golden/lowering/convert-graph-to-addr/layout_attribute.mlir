// RUN: gradus opt %s --convert-graph-to-addr --propagate-layouts --fuse-epilogues --canonicalize

// Of two depthwise convolutions, one has channels first by its attribute; its clamp joins it.
func.func @f(%x: tensor<1x4x5x6xf32>, %w: tensor<4x1x3x3xf32>) -> tensor<1x4x5x6xf32> {
  %0 = graph.conv %x, %w {group = 4 : i64, pads = array<i64: 1, 1, 1, 1>, layout.images = #layout.tiled<"NCHW">} : (tensor<1x4x5x6xf32>, tensor<4x1x3x3xf32>) -> tensor<1x4x5x6xf32>
  %1 = graph.relu %0 : tensor<1x4x5x6xf32>
  %2 = graph.conv %1, %w {group = 4 : i64, pads = array<i64: 1, 1, 1, 1>} : (tensor<1x4x5x6xf32>, tensor<4x1x3x3xf32>) -> tensor<1x4x5x6xf32>
  return %2 : tensor<1x4x5x6xf32>
}
