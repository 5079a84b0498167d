// Two convolutions write parts of a concatenation, and a third reads a slice of it.
func.func @main(%x: tensor<1x8x8x8xf32>) -> tensor<1x8x8x8xf32> {
  %w = graph.constant dense<0.5> : tensor<8x8x1x1xf32>
  %v = graph.constant dense<0.25> : tensor<8x8x1x1xf32>
  %starts = graph.constant dense<4> : tensor<1xi64>
  %ends = graph.constant dense<12> : tensor<1xi64>
  %axes = graph.constant dense<1> : tensor<1xi64>
  %0 = graph.conv %x, %w : (tensor<1x8x8x8xf32>, tensor<8x8x1x1xf32>) -> tensor<1x8x8x8xf32>
  %1 = graph.conv %x, %v : (tensor<1x8x8x8xf32>, tensor<8x8x1x1xf32>) -> tensor<1x8x8x8xf32>
  %2 = graph.concat %0, %1 {axis = 1 : i64} : (tensor<1x8x8x8xf32>, tensor<1x8x8x8xf32>) -> tensor<1x16x8x8xf32>
  %3 = graph.slice %2, %starts, %ends axes %axes : (tensor<1x16x8x8xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<1x8x8x8xf32>
  %4 = graph.conv %3, %w : (tensor<1x8x8x8xf32>, tensor<8x8x1x1xf32>) -> tensor<1x8x8x8xf32>
  return %4 : tensor<1x8x8x8xf32>
}
// PLACES: output = {offset = 0, row = 128, pixel = 64, channel = 4,
// PLACES: output = {offset = 32, row = 128, pixel = 64, channel = 4,
// PLACES: input = {offset = 16, row = 128, pixel = 64, channel = 4,
