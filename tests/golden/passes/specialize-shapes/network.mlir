// RUN: gradus opt %s --specialize-shapes="shapes=image=1x3x8x8;image=2x3x8x?"

// Two copies; the second one leaves an extent open.
func.func @main(%x: tensor<?x3x?x?xf32> {graph.name = "image"}) -> (tensor<?x4x?x?xf32> {graph.name = "features"}) {
  %w = graph.constant dense<2.500000e-01> : tensor<4x3x1x1xf32>
  %0 = graph.conv %x, %w : (tensor<?x3x?x?xf32>, tensor<4x3x1x1xf32>) -> tensor<?x4x?x?xf32>
  %1 = graph.relu %0 : tensor<?x4x?x?xf32>
  return %1 : tensor<?x4x?x?xf32>
}
