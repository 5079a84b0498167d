// RUN: gradus opt %s --convert-graph-to-addr="target=cpu report"

// The first layer's argument is copied with channels innermost and with padding, since windows in NCHW are many short runs; Winograd convolution is cheapest for the second;
// the third has too few output channels to pay for the transforms.
func.func @layers(%x: tensor<1x3x32x32xf32>) -> tensor<1x8x32x32xf32> {
  %u = arith.constant dense<0.5> : tensor<64x3x7x7xf32>
  // expected-remark@+1 {{costs: direct in NHWC with copied padding}}
  %0 = graph.conv %x, %u {pads = array<i64: 3, 3, 3, 3>} : (tensor<1x3x32x32xf32>, tensor<64x3x7x7xf32>) -> tensor<1x64x32x32xf32>
  %v = arith.constant dense<0.5> : tensor<64x64x3x3xf32>
  // expected-remark@+1 {{costs: winograd}}
  %1 = graph.conv %0, %v {pads = array<i64: 1, 1, 1, 1>} : (tensor<1x64x32x32xf32>, tensor<64x64x3x3xf32>) -> tensor<1x64x32x32xf32>
  %w = arith.constant dense<0.5> : tensor<8x64x3x3xf32>
  // expected-remark@+1 {{costs: direct in NHWC}}
  %2 = graph.conv %1, %w {pads = array<i64: 1, 1, 1, 1>} : (tensor<1x64x32x32xf32>, tensor<8x64x3x3xf32>) -> tensor<1x8x32x32xf32>
  return %2 : tensor<1x8x32x32xf32>
}
