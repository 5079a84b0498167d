// RUN: gradus opt %s --convert-layers-to-programs

// Both clusters have four rows of each of two tiles.
func.func @main(%x: tensor<1x4x16x8xf32>) -> tensor<1x4x16x8xf32> {
  %0 = layer.program "cluster" with {clusters = 2 : i64} -> tensor<1x4x16x8xf32> {
    %1 = layer.fused by [#cluster.split<"rows", 2, tiles = 2>] -> tensor<1x4x16x8xf32> {
      %2 = graph.relu %x : tensor<1x4x16x8xf32>
      layer.yield %2 : tensor<1x4x16x8xf32>
    }
    layer.yield %1 : tensor<1x4x16x8xf32>
  }
  return %0 : tensor<1x4x16x8xf32>
}
