// RUN: gradus opt %s --schedule-layers

// A program that has a schedule keeps it.
func.func @main(%x: tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32> {
  %0 = layer.program "cluster" with {clusters = 1 : i64} -> tensor<1x2x4x4xf32> {
    %1 = layer.fused by [#cluster.split<"rows", 1>] -> tensor<1x2x4x4xf32> {
      %2 = graph.relu %x : tensor<1x2x4x4xf32>
      layer.yield %2 : tensor<1x2x4x4xf32>
    }
    layer.schedule {
      %a = cluster.feature 0 read stored [0:4 0:4 0:2] at 0 : memref<128xi8>
      %b = cluster.feature 1 stored [0:4 0:4 0:2] needed none at 1024 : memref<128xi8>
      cluster.task 0 "relu" boxes [0:4 0:4 0:2] saved [0:4 0:4 0:2] reads(%a) writes(%b)
    }
    layer.yield %1 : tensor<1x2x4x4xf32>
  }
  return %0 : tensor<1x2x4x4xf32>
}
