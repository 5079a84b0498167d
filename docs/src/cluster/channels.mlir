// Two convolutions, each divided by channels among five clusters.
func.func @main(%x: tensor<1x16x20x20xf32>) -> tensor<1x40x20x20xf32> {
  %w = graph.constant dense<0.5> : tensor<40x16x3x3xf32>
  %v = graph.constant dense<0.5> : tensor<40x40x3x3xf32>
  %0 = layer.program "cluster" -> tensor<1x40x20x20xf32> {
    %1 = layer.fused by [#cluster.split<"channels", 5>] -> tensor<1x40x20x20xf32> {
      %3 = graph.conv %x, %w {pads = array<i64: 1, 1, 1, 1>} : (tensor<1x16x20x20xf32>, tensor<40x16x3x3xf32>) -> tensor<1x40x20x20xf32>
      layer.yield %3 : tensor<1x40x20x20xf32>
    }
    %2 = layer.fused by [#cluster.split<"channels", 5>] -> tensor<1x40x20x20xf32> {
      %3 = graph.conv %1, %v {pads = array<i64: 1, 1, 1, 1>} : (tensor<1x40x20x20xf32>, tensor<40x40x3x3xf32>) -> tensor<1x40x20x20xf32>
      layer.yield %3 : tensor<1x40x20x20xf32>
    }
    layer.yield %2 : tensor<1x40x20x20xf32>
  }
  return %0 : tensor<1x40x20x20xf32>
}
// SLICES: bytes = 25600},
// SLICES-NEXT: clusters = 31,
// SLICES: bytes = 4608},
// SLICES-NEXT: clusters = 1,
// SLICES: bytes = 4608},
// SLICES-NEXT: clusters = 2,
// SLICES: bytes = 4608},
// SLICES-NEXT: clusters = 4,
// SLICES: bytes = 4608},
// SLICES-NEXT: clusters = 8,
// SLICES: bytes = 4608},
// SLICES-NEXT: clusters = 16,
// COPIES: cluster 0 {
// COPIES: cluster.send
// COPIES-NEXT: rows = 20, cols = 20, bytes = 32}
// COPIES-NEXT: clusters = 30,
