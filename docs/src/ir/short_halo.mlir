func.func @main(%x: tensor<1x2x8x4xf32>) -> tensor<1x2x8x4xf32> {
  %0 = layer.program "cluster" with {clusters = 2 : i64} -> tensor<1x2x8x4xf32> {
    %1 = layer.fused by [#cluster.split<"rows", 2>] -> tensor<1x2x8x4xf32> {
      %2 = graph.max_pool %x {kernel_shape = array<i64: 3, 1>, pads = array<i64: 1, 0, 1, 0>} : (tensor<1x2x8x4xf32>) -> tensor<1x2x8x4xf32>
      layer.yield %2 : tensor<1x2x8x4xf32>
    }
    layer.schedule {
      %a = cluster.feature 0 read stored [0:4 0:4 0:2, 3:8 0:4 0:2] : memref<160xi8>
      %b = cluster.feature 1 stored [0:4 0:4 0:2, 4:8 0:4 0:2] needed none : memref<128xi8>
      cluster.task 0 "pool" boxes [0:4 0:4 0:2, 4:8 0:4 0:2] saved [0:4 0:4 0:2, 4:8 0:4 0:2] reads(%a) writes(%b)
    }
    layer.yield %1 : tensor<1x2x8x4xf32>
  }
  return %0 : tensor<1x2x8x4xf32>
}
