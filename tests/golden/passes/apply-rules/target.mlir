// RUN: gradus opt %s --apply-rules="target=cluster floats=approx"

// The function is applied once to both: each step lowers the cost.
func.func @expand(%x: tensor<1x4x6x6xf32>) -> tensor<1x16x6x6xf32> {
  %one = graph.constant dense<0.5> : tensor<8x4x1x1xf32>
  %three = graph.constant dense<0.25> : tensor<8x4x3x3xf32>
  %0 = graph.conv %x, %one {kernel_shape = array<i64: 1, 1>} : (tensor<1x4x6x6xf32>, tensor<8x4x1x1xf32>) -> tensor<1x8x6x6xf32>
  %1 = graph.relu %0 : tensor<1x8x6x6xf32>
  %2 = graph.conv %x, %three {pads = array<i64: 1, 1, 1, 1>} : (tensor<1x4x6x6xf32>, tensor<8x4x3x3xf32>) -> tensor<1x8x6x6xf32>
  %3 = graph.relu %2 : tensor<1x8x6x6xf32>
  %4 = graph.concat %1, %3 {axis = 1 : i64} : (tensor<1x8x6x6xf32>, tensor<1x8x6x6xf32>) -> tensor<1x16x6x6xf32>
  return %4 : tensor<1x16x6x6xf32>
}

// No single step lowers the cost: merging the additions pays only after the sigmoids.
func.func @stays(%x: tensor<1x8xf32>, %y: tensor<1x8xf32>) -> tensor<1x8xf32> {
  %0 = graph.add %x, %y : (tensor<1x8xf32>, tensor<1x8xf32>) -> tensor<1x8xf32>
  %1 = graph.sigmoid %0 : tensor<1x8xf32>
  return %1 : tensor<1x8xf32>
}
