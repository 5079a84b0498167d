// RUN: gradus opt %s --convert-graph-to-addr=algorithm=winograd --canonicalize

// F(2x2, 3x3): 16 products of transformed input tiles; the inverse transform adds the bias.
func.func @three_by_three(%x: tensor<1x64x8x8xf32>, %b: tensor<64xf32>) -> tensor<1x64x8x8xf32> {
  %w = arith.constant dense<4.0> : tensor<64x64x3x3xf32>
  %y = graph.conv %x, %w, %b {pads = array<i64: 1, 1, 1, 1>} : (tensor<1x64x8x8xf32>, tensor<64x64x3x3xf32>, tensor<64xf32>) -> tensor<1x64x8x8xf32>
  return %y : tensor<1x64x8x8xf32>
}
// Not lowered to Winograd: filters that are not constant, stride 2, and f16.
func.func @stays(%x: tensor<1x32x16x16xf32>, %w: tensor<32x32x3x3xf32>, %half: tensor<1x32x16x16xf16>) -> (tensor<1x32x14x14xf32>, tensor<1x32x7x7xf32>, tensor<1x32x14x14xf16>) {
  %0 = graph.conv %x, %w : (tensor<1x32x16x16xf32>, tensor<32x32x3x3xf32>) -> tensor<1x32x14x14xf32>
  %c = arith.constant dense<0.5> : tensor<32x32x3x3xf32>
  %1 = graph.conv %x, %c {strides = array<i64: 2, 2>} : (tensor<1x32x16x16xf32>, tensor<32x32x3x3xf32>) -> tensor<1x32x7x7xf32>
  %h = arith.constant dense<0.5> : tensor<32x32x3x3xf16>
  %3 = graph.conv %half, %h : (tensor<1x32x16x16xf16>, tensor<32x32x3x3xf16>) -> tensor<1x32x14x14xf16>
  return %0, %1, %3 : tensor<1x32x14x14xf32>, tensor<1x32x7x7xf32>, tensor<1x32x14x14xf16>
}
