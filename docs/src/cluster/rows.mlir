// Two convolutions, each divided by rows among five clusters.
func.func @main(%x: tensor<1x16x20x20xf32>) -> tensor<1x40x20x20xf32> {
  %w = graph.constant dense<0.5> : tensor<40x16x3x3xf32>
  %v = graph.constant dense<0.5> : tensor<40x40x3x3xf32>
  %0 = layer.program "cluster" -> tensor<1x40x20x20xf32> {
    %1 = layer.fused by [#cluster.split<"rows", 5>] -> tensor<1x40x20x20xf32> {
      %3 = graph.conv %x, %w {pads = array<i64: 1, 1, 1, 1>} : (tensor<1x16x20x20xf32>, tensor<40x16x3x3xf32>) -> tensor<1x40x20x20xf32>
      layer.yield %3 : tensor<1x40x20x20xf32>
    }
    %2 = layer.fused by [#cluster.split<"rows", 5>] -> tensor<1x40x20x20xf32> {
      %3 = graph.conv %1, %v {pads = array<i64: 1, 1, 1, 1>} : (tensor<1x40x20x20xf32>, tensor<40x40x3x3xf32>) -> tensor<1x40x20x20xf32>
      layer.yield %3 : tensor<1x40x20x20xf32>
    }
    layer.yield %2 : tensor<1x40x20x20xf32>
  }
  return %0 : tensor<1x40x20x20xf32>
}
// MULTICAST: bytes = 23040},
// MULTICAST-NEXT: clusters = 31,
// MULTICAST: bytes = 57600},
// MULTICAST-NEXT: clusters = 31,
// HALO: cluster 1 {
// HALO: input = {offset = 23040, row = 80, pixel = 4, channel = 480, rows = 6,
// HALO-NEXT: output = {offset = 60800, row = 3200, pixel = 160, channel = 4, rows = 4,
// ORDER: cluster 1 {
// ORDER-NEXT: cluster.fetch
// ORDER: cluster.wait
// ORDER: cluster.conv
// ORDER-NEXT: task = 0
// ORDER: cluster.send
// ORDER: cluster.wait
// ORDER: cluster.conv
// ORDER-NEXT: task = 1
// ORDER: cluster.store
// ORDER: {{^}$}}
// TASKS: [[X:%.*]] = cluster.feature 0 read
// TASKS: [[W:%.*]] = cluster.parameters 0 [0:40 on 31]
// TASKS: [[V:%.*]] = cluster.parameters 1 [0:40 on 31]
// TASKS: [[Y:%.*]] = cluster.feature 1
// TASKS: cluster.task 0
// TASKS-SAME: reads([[X]], [[W]]) writes([[Y]])
// TASKS: cluster.task 1
// TASKS-SAME: reads([[Y]], [[V]])
