// Convolutions of an image of few channels, and of many channels and one pixel.
func.func @wide(%x: tensor<1x8x40x40xf32>) -> tensor<1x8x40x40xf32> {
  %w = graph.constant dense<0.5> : tensor<8x8x3x3xf32>
  %0 = graph.conv %x, %w {pads = array<i64: 1, 1, 1, 1>} : (tensor<1x8x40x40xf32>, tensor<8x8x3x3xf32>) -> tensor<1x8x40x40xf32>
  return %0 : tensor<1x8x40x40xf32>
}
func.func @deep(%x: tensor<1x320xf32>) -> tensor<1x320xf32> {
  %w = graph.constant dense<0.5> : tensor<320x320xf32>
  %0 = graph.matmul %x, %w : (tensor<1x320xf32>, tensor<320x320xf32>) -> tensor<1x320xf32>
  return %0 : tensor<1x320xf32>
}
// SPLIT: graph.conv by #cluster.split<"{{rows|columns}}"
// SPLIT: graph.matmul by #cluster.split<"channels"
