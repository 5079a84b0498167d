// RUN: gradus opt %s --convert-graph-to-addr="encoding=running derivation=coordinates geometry" | FileCheck %s
// COM: Running sums of the offsets: the worked example of a 4x4 image and a 3x3 filter, and the rows of a matrix. An indirect table has
// COM: no offsets. Each op has the geometry of its table.

// CHECK-LABEL: func.func @conv
// CHECK-DAG:     [[BASE:%.*]] = arith.constant dense<[0, 1, 4, 5]> : tensor<4xi32>
// CHECK-DAG:     [[STEPS:%.*]] = arith.constant dense<[0, 1, 1, 2, 1, 1, 2, 1, 1]> : tensor<9xi32>
// CHECK:         addr.gemm {{%.*}}[[[BASE]] + [[STEPS]]] running, {{%.*}} {addr.geometry = #addr.geometry<"conv", "NHWC", [1, 1, 4, 4], windows = [2, 3, 1, 1, 0, 2, 3, 1, 1, 0]>}
func.func @conv(%x: tensor<1x1x4x4xf32>, %w: tensor<1x1x3x3xf32>) -> tensor<1x1x2x2xf32> {
  %0 = graph.conv %x, %w : (tensor<1x1x4x4xf32>, tensor<1x1x3x3xf32>) -> tensor<1x1x2x2xf32>
  return %0 : tensor<1x1x2x2xf32>
}

// CHECK-LABEL: func.func @matmul
// CHECK-DAG:     [[STEPS:%.*]] = arith.constant dense<[0, 1, 1]> : tensor<3xi32>
// CHECK:         addr.gemm {{%.*}}[{{%.*}} + [[STEPS]]] running, {{%.*}} {addr.geometry = #addr.geometry<"rows", "MK", [2, 3]>}
func.func @matmul(%x: tensor<2x3xf32>, %w: tensor<3x2xf32>) -> tensor<2x2xf32> {
  %0 = graph.matmul %x, %w : (tensor<2x3xf32>, tensor<3x2xf32>) -> tensor<2x2xf32>
  return %0 : tensor<2x2xf32>
}

// CHECK-LABEL: func.func @pool
// CHECK-NOT:     running
// CHECK:         addr.pool max {{%.*}} run 8 {addr.geometry = #addr.geometry<"windows", "NHWC", [1, 8, 4, 4], windows = [2, 2, 2, 1, 0, 2, 2, 2, 1, 0]>}
func.func @pool(%x: tensor<1x8x4x4xf32>) -> tensor<1x8x2x2xf32> {
  %0 = graph.max_pool %x {kernel_shape = array<i64: 2, 2>, strides = array<i64: 2, 2>} : (tensor<1x8x4x4xf32>) -> tensor<1x8x2x2xf32>
  return %0 : tensor<1x8x2x2xf32>
}
