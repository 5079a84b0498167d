// RUN: gradus opt %s --convert-graph-to-addr --canonicalize --verify-diagnostics | FileCheck %s
// COM: A transposed convolution with stride 2 is four convolutions with stride 1, whose results are interleaved: each residue reads one of
// COM: the four taps. If all read the same elements they are one product. With stride 1 it is one convolution, which reads the taps in reverse.

// CHECK-LABEL: func.func @joint
// CHECK:         addr.gemm {{.*}} bias {{.*}} -> tensor<4x4xf32>
// CHECK:         graph.transpose {{.*}} {perm = array<i64: 0, 1, 3, 2, 4, 5>} : (tensor<1x2x2x2x2x1xf32>) -> tensor<1x2x2x2x2x1xf32>
// CHECK-NOT:     graph.conv_transpose
func.func @joint(%x: tensor<1x1x2x2xf32>) -> tensor<1x1x4x4xf32> {
  %w = arith.constant dense<[[[[1.0, 2.0], [3.0, 4.0]]]]> : tensor<1x1x2x2xf32>
  %b = arith.constant dense<[5.0]> : tensor<1xf32>
  %0 = graph.conv_transpose %x, %w, %b {strides = array<i64: 2, 2>} : (tensor<1x1x2x2xf32>, tensor<1x1x2x2xf32>, tensor<1xf32>) -> tensor<1x1x4x4xf32>
  return %0 : tensor<1x1x4x4xf32>
}

// CHECK-LABEL: func.func @interleaved
// CHECK-COUNT-4: addr.indirect_gemm
// CHECK:         graph.transpose {{.*}} {perm = array<i64: 2, 3, 0, 4, 1, 5>} : (tensor<2x2x1x2x2x1xf32>) -> tensor<1x2x2x2x2x1xf32>
// CHECK-NOT:     graph.conv_transpose
func.func @interleaved(%x: tensor<1x1x2x2xf32>) -> tensor<1x1x4x4xf32> {
  %w = arith.constant dense<[[[[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0], [9.0, 10.0, 11.0, 12.0], [13.0, 14.0, 15.0, 16.0]]]]> : tensor<1x1x4x4xf32>
  %0 = graph.conv_transpose %x, %w {pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 2, 2>} : (tensor<1x1x2x2xf32>, tensor<1x1x4x4xf32>) -> tensor<1x1x4x4xf32>
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

// COM: A depthwise one reads an element or nothing at each tap.

// CHECK-LABEL: func.func @depthwise
// CHECK-DAG:     [[BASES:%.*]] = arith.constant dense<{{\[\[}}0, -1, -1], [-1, 0, -1], [2, -1, 0], [-1, 2, -1], [-1, -1, 2]]> : tensor<5x3xi32>
// CHECK:         addr.depthwise {{%.*}}[[[BASES]]], {{%.*}} bias %arg1
func.func @depthwise(%x: tensor<1x2x2xf32>, %b: tensor<2xf32>) -> tensor<1x2x5xf32> {
  %w = arith.constant dense<[[[1.0, 2.0, 3.0]], [[4.0, 5.0, 6.0]]]> : tensor<2x1x3xf32>
  %0 = graph.conv_transpose %x, %w, %b {strides = array<i64: 2>, group = 2 : i64} : (tensor<1x2x2xf32>, tensor<2x1x3xf32>, tensor<2xf32>) -> tensor<1x2x5xf32>
  return %0 : tensor<1x2x5xf32>
}

// COM: Outside the input a transposed convolution adds nothing, not even the product of 0 and infinity. With filters that may be infinite,
// COM: each position is multiplied by all taps. The products of an output position are summed, those of taps that read nothing are not.

// CHECK-LABEL: func.func @argument
// CHECK-DAG:     [[BASES:%.*]] = arith.constant dense<{{\[\[}}0, -1], [2, -1], [6, 4], [8, -1], [10, -1]]> : tensor<5x2xi32>
// CHECK:         graph.transpose {{%.*}} {perm = array<i64: 0, 2, 1>} : (tensor<1x3x6xf32>) -> tensor<1x6x3xf32>
// CHECK:         [[W:%.*]] = graph.transpose {{%.*}} {perm = array<i64: 0, 2, 1, 3>} : (tensor<1x2x3x3xf32>) -> tensor<1x3x2x3xf32>
// CHECK:         [[ROWS:%.*]] = graph.reshape [[W]], {{.*}} -> tensor<6x3xf32>
// CHECK:         [[PRODUCTS:%.*]] = addr.gemm {{%.*}}[{{%.*}} + {{%.*}}], [[ROWS]] : {{.*}} -> tensor<2x6xf32>
// CHECK:         [[SUMS:%.*]] = addr.pool sum [[PRODUCTS]][[[BASES]]] run 2 : {{.*}} -> tensor<5x2xf32>
// CHECK:         graph.add [[SUMS]], %arg2
func.func @argument(%x: tensor<1x3x2xf32>, %w: tensor<3x2x3xf32>, %b: tensor<2xf32>) -> tensor<1x2x5xf32> {
  %0 = graph.conv_transpose %x, %w, %b {strides = array<i64: 2>} : (tensor<1x3x2xf32>, tensor<3x2x3xf32>, tensor<2xf32>) -> tensor<1x2x5xf32>
  return %0 : tensor<1x2x5xf32>
}

// COM: Each group is summed for itself.

// CHECK-LABEL: func.func @groups
// CHECK-DAG:     [[BASES:%.*]] = arith.constant dense<{{\[\[}}0, -1], [6, -1], [12, 2], [18, 8], [14, 4], [20, 10], [16, -1], [22, -1]]> : tensor<8x2xi32>
// CHECK:         [[PRODUCTS:%.*]] = addr.gemm {{.*}} -> tensor<2x12xf32>
// CHECK:         [[SUMS:%.*]] = addr.pool sum [[PRODUCTS]][[[BASES]]] run 2 : {{.*}} -> tensor<8x2xf32>
func.func @groups(%x: tensor<1x4x2xf32>, %w: tensor<4x2x3xf32>) -> tensor<1x4x4xf32> {
  %0 = graph.conv_transpose %x, %w {group = 2 : i64} : (tensor<1x4x2xf32>, tensor<4x2x3xf32>) -> tensor<1x4x4xf32>
  return %0 : tensor<1x4x4xf32>
}

// COM: Depthwise products are elementwise. 16-bit floats are summed in f32.

// CHECK-LABEL: func.func @depthwise_argument
// CHECK-DAG:     [[X:%.*]] = graph.cast %arg0 to f32
// CHECK-DAG:     [[W:%.*]] = graph.cast %arg1 to f32
// CHECK:         [[PRODUCTS:%.*]] = graph.mul {{.*}} : (tensor<2x1x2xf32>, tensor<3x2xf32>) -> tensor<2x3x2xf32>
// CHECK:         [[SUMS:%.*]] = addr.pool sum [[PRODUCTS]][{{%.*}}] run 2
// CHECK:         graph.cast [[SUMS]] to f16
func.func @depthwise_argument(%x: tensor<1x2x2xf16>, %w: tensor<2x1x3xf16>) -> tensor<1x2x4xf16> {
  %0 = graph.conv_transpose %x, %w {group = 2 : i64} : (tensor<1x2x2xf16>, tensor<2x1x3xf16>) -> tensor<1x2x4xf16>
  return %0 : tensor<1x2x4xf16>
}

// CHECK-LABEL: func.func @no_tap_for_some_residue
// CHECK-DAG:     [[BASES:%.*]] = arith.constant dense<{{\[\[}}0], [-1], [1]]> : tensor<3x1xi32>
// CHECK:         addr.pool sum {{%.*}}[[[BASES]]] run 1
func.func @no_tap_for_some_residue(%x: tensor<1x1x2xf32>) -> tensor<1x1x3xf32> {
  %w = arith.constant dense<[[[2.0]]]> : tensor<1x1x1xf32>
  %0 = graph.conv_transpose %x, %w {strides = array<i64: 2>} : (tensor<1x1x2xf32>, tensor<1x1x1xf32>) -> tensor<1x1x3xf32>
  return %0 : tensor<1x1x3xf32>
}

// CHECK-LABEL: func.func @infinite_filter
// CHECK:         addr.pool sum
func.func @infinite_filter(%x: tensor<1x1x2xf32>) -> tensor<1x1x4xf32> {
  %w = arith.constant dense<[[[1.0, 0x7F800000, 3.0]]]> : tensor<1x1x3xf32>
  %0 = graph.conv_transpose %x, %w : (tensor<1x1x2xf32>, tensor<1x1x3xf32>) -> tensor<1x1x4xf32>
  return %0 : tensor<1x1x4xf32>
}

// CHECK-LABEL: func.func @dynamic
// CHECK:         graph.conv_transpose
func.func @dynamic(%x: tensor<?x1x2xf32>, %w: tensor<1x1x3xf32>) -> tensor<?x1x4xf32> {
  // expected-remark@+1 {{'graph.conv_transpose' stays in graph: an unknown extent (operand 'x')}}
  %0 = graph.conv_transpose %x, %w : (tensor<?x1x2xf32>, tensor<1x1x3xf32>) -> tensor<?x1x4xf32>
  return %0 : tensor<?x1x4xf32>
}
