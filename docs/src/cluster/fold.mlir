// Padding, a convolution, a batch normalization, a scale, a sum and a relu: one convolution. The normalization of the pool's result: one stage.
func.func @main(%x: tensor<1x8x8x8xf32>) -> (tensor<1x8x8x8xf32>, tensor<1x8x4x4xf32>) {
  %w = graph.constant dense<0.5> : tensor<8x8x3x3xf32>
  %g = graph.constant dense<[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]> : tensor<8xf32>
  %s = graph.constant dense<0.5> : tensor<1x8x1x1xf32>
  %t = graph.constant dense<0.25> : tensor<1x8x1x1xf32>
  %pads = graph.constant dense<[0, 0, 1, 1, 0, 0, 1, 1]> : tensor<8xi64>
  %p = graph.pad %x, %pads : (tensor<1x8x8x8xf32>, tensor<8xi64>) -> tensor<1x8x10x10xf32>
  %0 = graph.conv %p, %w : (tensor<1x8x10x10xf32>, tensor<8x8x3x3xf32>) -> tensor<1x8x8x8xf32>
  %1 = graph.batch_normalization %0, %g, %g, %g, %g : (tensor<1x8x8x8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<1x8x8x8xf32>
  %2 = graph.mul %1, %s : (tensor<1x8x8x8xf32>, tensor<1x8x1x1xf32>) -> tensor<1x8x8x8xf32>
  %3 = graph.add %2, %t : (tensor<1x8x8x8xf32>, tensor<1x8x1x1xf32>) -> tensor<1x8x8x8xf32>
  %4 = graph.relu %3 : tensor<1x8x8x8xf32>
  %5 = graph.max_pool %4 {kernel_shape = array<i64: 2, 2>, strides = array<i64: 2, 2>} : (tensor<1x8x8x8xf32>) -> tensor<1x8x4x4xf32>
  %6 = graph.batch_normalization %5, %g, %g, %g, %g : (tensor<1x8x4x4xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<1x8x4x4xf32>
  %7 = graph.mul %6, %s : (tensor<1x8x4x4xf32>, tensor<1x8x1x1xf32>) -> tensor<1x8x4x4xf32>
  %8 = graph.add %7, %t : (tensor<1x8x4x4xf32>, tensor<1x8x1x1xf32>) -> tensor<1x8x4x4xf32>
  return %4, %8 : tensor<1x8x8x8xf32>, tensor<1x8x4x4xf32>
}
// FOLDED: cluster.conv
// FOLDED: first = [-1, -1]
// FOLDED: stages = [{kind = clamp{{[^{]*}}}]
// FOLDED: cluster.pool
// FOLDED: stages = [{kind = affine{{[^{]*}}}]
// FOLDED-NOT: cluster.map
