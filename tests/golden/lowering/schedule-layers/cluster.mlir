// RUN: gradus opt %s --schedule-layers

// Two clusters have half of the rows each, and read one of the other half. A task of both follows constants that both read.
func.func @main(%x: tensor<1x2x8x4xf32>) -> tensor<1x2x8x4xf32> {
  %w = graph.constant dense<0.5> : tensor<2x2x3x3xf32>
  %0 = layer.program "cluster" with {clusters = 2 : i64} -> tensor<1x2x8x4xf32> {
    %1 = layer.fused "first" by [#cluster.split<"rows", 2>] -> tensor<1x2x8x4xf32> {
      %2 = graph.relu %x : tensor<1x2x8x4xf32>
      layer.yield %2 : tensor<1x2x8x4xf32>
    }
    %3 = layer.fused "second" by [#cluster.split<"rows", 2>] -> tensor<1x2x8x4xf32> {
      %4 = graph.conv %1, %w {pads = array<i64: 1, 1, 1, 1>} : (tensor<1x2x8x4xf32>, tensor<2x2x3x3xf32>) -> tensor<1x2x8x4xf32>
      layer.yield %4 : tensor<1x2x8x4xf32>
    }
    layer.yield %3 : tensor<1x2x8x4xf32>
  }
  return %0 : tensor<1x2x8x4xf32>
}
