// RUN: gradus opt %s --fold-shuffles --canonicalize

// The product reads the channels where they were, in the order of their addresses.
func.func @product(%x: tensor<2x2x2xf32>) -> tensor<2x2xf32> {
  %base = arith.constant dense<[0, 4]> : tensor<2xi32>
  %relative = arith.constant dense<[0, 1, 2, 3]> : tensor<4xi32>
  %b = arith.constant dense<[[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0]]> : tensor<2x4xf32>
  %0 = graph.transpose %x {perm = array<i64: 0, 2, 1>} : (tensor<2x2x2xf32>) -> tensor<2x2x2xf32>
  %1 = addr.gemm %0[%base + %relative], %b : (tensor<2x2x2xf32>, tensor<2xi32>, tensor<4xi32>, tensor<2x4xf32>) -> tensor<2x2xf32>
  return %1 : tensor<2x2xf32>
}
// A depthwise convolution between a shuffle of two groups of four channels and a group convolution.
func.func @between_groups(%x: tensor<2x2x4xf32>) -> tensor<2x4xf32> {
  %shape = arith.constant dense<[2, 8]> : tensor<2xi64>
  %bases = arith.constant dense<[[0, 8], [8, -1]]> : tensor<2x2xi32>
  %w = arith.constant dense<[[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0], [8.0, 9.0, 10.0, 11.0, 12.0, 13.0, 14.0, 15.0]]> : tensor<2x8xf32>
  %bias = arith.constant dense<[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]> : tensor<8xf32>
  %base = arith.constant dense<[[0, 8], [4, 12]]> : tensor<2x2xi32>
  %relative = arith.constant dense<[0, 1, 1, 1]> : tensor<4xi32>
  %b = arith.constant dense<[[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0], [9.0, 10.0, 11.0, 12.0], [13.0, 14.0, 15.0, 16.0]]> : tensor<4x4xf32>
  %0 = graph.transpose %x {perm = array<i64: 0, 2, 1>} : (tensor<2x2x4xf32>) -> tensor<2x4x2xf32>
  %1 = graph.reshape %0, %shape : (tensor<2x4x2xf32>, tensor<2xi64>) -> tensor<2x8xf32>
  %2 = addr.depthwise %1[%bases], %w bias %bias : (tensor<2x8xf32>, tensor<2x2xi32>, tensor<2x8xf32>, tensor<8xf32>) -> tensor<2x8xf32>
  %3 = addr.gemm %2[%base + %relative] running, %b : (tensor<2x8xf32>, tensor<2x2xi32>, tensor<4xi32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  return %3 : tensor<2x4xf32>
}
// Not folded: other uses, groups at other distances, and rows that are not the channels of a pixel.
func.func @not_folded(%x: tensor<2x3x2xf32>) -> (tensor<2x2x3xf32>, tensor<2x1xf32>, tensor<2x2xf32>, tensor<2x1xf32>) {
  %relative = arith.constant dense<[0, 1, 2]> : tensor<3xi32>
  %b = arith.constant dense<[[1.0, 2.0, 3.0]]> : tensor<1x3xf32>
  %0 = graph.transpose %x {perm = array<i64: 0, 2, 1>} : (tensor<2x3x2xf32>) -> tensor<2x2x3xf32>
  %base = arith.constant dense<[0, 6]> : tensor<2xi32>
  %1 = addr.gemm %0[%base + %relative], %b : (tensor<2x2x3xf32>, tensor<2xi32>, tensor<3xi32>, tensor<1x3xf32>) -> tensor<2x1xf32>
  %2 = graph.transpose %x {perm = array<i64: 0, 2, 1>} : (tensor<2x3x2xf32>) -> tensor<2x2x3xf32>
  %bases = arith.constant dense<[[0, 6], [2, 8]]> : tensor<2x2xi32>
  %c = arith.constant dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf32>
  %3 = addr.gemm %2[%bases + %relative], %c : (tensor<2x2x3xf32>, tensor<2x2xi32>, tensor<3xi32>, tensor<2x3xf32>) -> tensor<2x2xf32>
  %4 = graph.transpose %x {perm = array<i64: 0, 2, 1>} : (tensor<2x3x2xf32>) -> tensor<2x2x3xf32>
  %across = arith.constant dense<[0, 3]> : tensor<2xi32>
  %5 = addr.gemm %4[%across + %relative], %b : (tensor<2x2x3xf32>, tensor<2xi32>, tensor<3xi32>, tensor<1x3xf32>) -> tensor<2x1xf32>
  return %0, %1, %3, %5 : tensor<2x2x3xf32>, tensor<2x1xf32>, tensor<2x2xf32>, tensor<2x1xf32>
}
