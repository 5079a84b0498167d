// RUN: gradus opt %s --convert-graph-to-addr --canonicalize | FileCheck %s
// COM: A transposed convolution with stride 2 is four convolutions with stride 1, whose results are interleaved: each residue reads one of
// COM: the four taps. With stride 1 it is one convolution, which reads the taps in reverse.

// CHECK-LABEL: func.func @interleaved
// CHECK-COUNT-4: addr.gemm
// CHECK:         graph.transpose {{.*}} {perm = array<i64: 2, 3, 0, 4, 1, 5>} : (tensor<2x2x1x2x2x1xf32>) -> tensor<1x2x2x2x2x1xf32>
// CHECK-NOT:     graph.conv_transpose
func.func @interleaved(%x: tensor<1x1x2x2xf32>) -> tensor<1x1x4x4xf32> {
  %w = arith.constant dense<[[[[1.0, 2.0], [3.0, 4.0]]]]> : tensor<1x1x2x2xf32>
  %0 = graph.conv_transpose %x, %w {strides = array<i64: 2, 2>} : (tensor<1x1x2x2xf32>, tensor<1x1x2x2xf32>) -> tensor<1x1x4x4xf32>
  return %0 : tensor<1x1x4x4xf32>
}

// CHECK-LABEL: func.func @reversed
// CHECK-DAG:     [[FILTER:%.*]] = arith.constant dense<{{\[\[}}3.000000e+00, 2.000000e+00, 1.000000e+00]]> : tensor<1x3xf32>
// CHECK-DAG:     [[BASES:%.*]] = arith.constant dense<{{\[\[}}-1, -1, 0], [-1, 0, 1], [0, 1, -1], [1, -1, -1]]> : tensor<4x3xi32>
// CHECK:         addr.indirect_gemm {{%.*}}[[[BASES]]] run 1, [[FILTER]]
func.func @reversed(%x: tensor<1x1x2xf32>) -> tensor<1x1x4xf32> {
  %w = arith.constant dense<[[[1.0, 2.0, 3.0]]]> : tensor<1x1x3xf32>
  %0 = graph.conv_transpose %x, %w : (tensor<1x1x2xf32>, tensor<1x1x3xf32>) -> tensor<1x1x4xf32>
  return %0 : tensor<1x1x4xf32>
}

// CHECK-LABEL: func.func @no_tap_for_some_residue
// CHECK:         graph.conv_transpose
func.func @no_tap_for_some_residue(%x: tensor<1x1x2xf32>) -> tensor<1x1x3xf32> {
  %w = arith.constant dense<[[[2.0]]]> : tensor<1x1x1xf32>
  %0 = graph.conv_transpose %x, %w {strides = array<i64: 2>} : (tensor<1x1x2xf32>, tensor<1x1x1xf32>) -> tensor<1x1x3xf32>
  return %0 : tensor<1x1x3xf32>
}

// COM: Outside the input a transposed convolution adds nothing, and the product 0 times infinity.

// CHECK-LABEL: func.func @infinite_filter
// CHECK:         graph.conv_transpose
func.func @infinite_filter(%x: tensor<1x1x2xf32>) -> tensor<1x1x4xf32> {
  %w = arith.constant dense<[[[1.0, 0x7F800000, 3.0]]]> : tensor<1x1x3xf32>
  %0 = graph.conv_transpose %x, %w : (tensor<1x1x2xf32>, tensor<1x1x3xf32>) -> tensor<1x1x4xf32>
  return %0 : tensor<1x1x4xf32>
}
