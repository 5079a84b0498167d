// Two convolutions, whose constants are read when their tasks begin.
func.func @main(%x: tensor<1x16x20x20xf32>) -> tensor<1x40x20x20xf32> {
  %w = graph.constant dense<0.5> : tensor<40x16x3x3xf32>
  %v = graph.constant dense<0.5> : tensor<40x40x3x3xf32>
  %0 = layer.program "cluster" with {without = "prefetch"} -> tensor<1x40x20x20xf32> {
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
// BYTES: cluster.parameters 0 {{.*}} at 0 : memref<23040xi8>
// BYTES: cluster.task 0
// BYTES: cluster.parameters 1 {{.*}} at 0 : memref<57600xi8>
