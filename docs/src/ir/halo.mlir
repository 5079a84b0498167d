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
// SCHEDULE: layer.schedule
// SCHEDULE-NEXT: [[X:%.*]] = cluster.feature 0 read
// SCHEDULE-SAME: stored [0:4 0:4 0:2, 4:8 0:4 0:2]
// SCHEDULE-NEXT: [[W:%.*]] = cluster.parameters 1 [0:2 on 3]
// SCHEDULE-NEXT: [[Y:%.*]] = cluster.feature 1
// SCHEDULE-SAME: stored [0:5 0:4 0:2, 3:8 0:4 0:2]
// SCHEDULE-NEXT: cluster.task 0 "first"
// SCHEDULE-SAME: boxes [0:4 0:4 0:2, 4:8 0:4 0:2]
// SCHEDULE-SAME: reads([[X]]) writes([[Y]])
// SCHEDULE: cluster.task 1 "second"
// SCHEDULE-SAME: saved [0:4 0:4 0:2, 4:8 0:4 0:2] reads([[Y]], [[W]])
