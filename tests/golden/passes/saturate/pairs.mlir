// RUN: gradus opt %s --saturate="target=cluster floats=approx rules=graph-algebra,graph-fuse,graph-merge,conv-as-3x3"

// Two gates of a cell, each with a product of the input and one of the state: they are merged into two wide products, and
// the following ops work on the wide values.
func.func @gates(%x: tensor<1x8xf32>, %state: tensor<1x8xf32>) -> (tensor<1x8xf32>, tensor<1x8xf32>) {
  %w = graph.constant dense<0.5> : tensor<8x8xf32>
  %v = graph.constant dense<0.25> : tensor<8x8xf32>
  %u = graph.constant dense<0.125> : tensor<8x8xf32>
  %t = graph.constant dense<2.0> : tensor<8x8xf32>
  %0 = graph.matmul %x, %w : (tensor<1x8xf32>, tensor<8x8xf32>) -> tensor<1x8xf32>
  %1 = graph.matmul %state, %v : (tensor<1x8xf32>, tensor<8x8xf32>) -> tensor<1x8xf32>
  %2 = graph.add %0, %1 : (tensor<1x8xf32>, tensor<1x8xf32>) -> tensor<1x8xf32>
  %3 = graph.matmul %x, %u : (tensor<1x8xf32>, tensor<8x8xf32>) -> tensor<1x8xf32>
  %4 = graph.matmul %state, %t : (tensor<1x8xf32>, tensor<8x8xf32>) -> tensor<1x8xf32>
  %5 = graph.add %3, %4 : (tensor<1x8xf32>, tensor<1x8xf32>) -> tensor<1x8xf32>
  %6 = graph.sigmoid %2 : tensor<1x8xf32>
  %7 = graph.sigmoid %5 : tensor<1x8xf32>
  return %6, %7 : tensor<1x8xf32>, tensor<1x8xf32>
}

// 1x1 and 3x3 convolutions of one input, as in SqueezeNet: with the rule that makes the first ones 3x3, they are one convolution.
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
