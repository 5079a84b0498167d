// RUN: gradus opt %s --convert-graph-to-addr="layout=NHWC order=channels-first" --canonicalize

// Channels are the outermost summation dimension, although they are innermost in memory.
func.func @f(%x: tensor<1x2x3x3xf32>, %w: tensor<1x2x2x2xf32>) -> tensor<1x1x2x2xf32> {
  %y = graph.conv %x, %w : (tensor<1x2x3x3xf32>, tensor<1x2x2x2xf32>) -> tensor<1x1x2x2xf32>
  return %y : tensor<1x1x2x2xf32>
}
