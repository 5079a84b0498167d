// RUN: gradus opt %s

func.func @network(%x: tensor<1x3x8x8xf32>) -> tensor<1x10xf32> {
  %w = graph.constant dense<0.1> : tensor<4x3x3x3xf32>
  %b = graph.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %0 = graph.conv %x, %w, %b {pads = array<i64: 1, 1, 1, 1>} : (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>, tensor<4xf32>) -> tensor<1x4x8x8xf32>
  %1 = graph.relu %0 : tensor<1x4x8x8xf32>
  %2 = graph.max_pool %1 {kernel_shape = array<i64: 2, 2>, strides = array<i64: 2, 2>} : (tensor<1x4x8x8xf32>) -> tensor<1x4x4x4xf32>
  %shape = graph.constant dense<[1, -1]> : tensor<2xi64>
  %3 = graph.reshape %2, %shape : (tensor<1x4x4x4xf32>, tensor<2xi64>) -> tensor<1x64xf32>
  %m = graph.constant dense<0.01> : tensor<64x10xf32>
  %4 = graph.matmul %3, %m : (tensor<1x64xf32>, tensor<64x10xf32>) -> tensor<1x10xf32>
  return %4 : tensor<1x10xf32>
}
