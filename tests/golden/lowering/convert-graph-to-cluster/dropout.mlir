// RUN: gradus opt %s --convert-graph-to-cluster | FileCheck %s

// COM: A dropout in training mode drops elements, so the op stays. Without a mode it is the identity.
// CHECK-LABEL: func.func @training
// CHECK:         graph.dropout
// CHECK:         cluster.call
func.func @training(%x: tensor<1x8x4x4xf32>, %mode: tensor<i1>) -> tensor<1x8x4x4xf32> {
  %0 = graph.dropout %x training %mode {seed = 2 : i64} : (tensor<1x8x4x4xf32>, tensor<i1>) -> tensor<1x8x4x4xf32>
  %1 = graph.relu %0 : tensor<1x8x4x4xf32>
  return %1 : tensor<1x8x4x4xf32>
}

// CHECK-LABEL: func.func @inference
// CHECK-NOT:     graph.dropout
// CHECK:         cluster.call
func.func @inference(%x: tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32> {
  %0 = graph.dropout %x : (tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32>
  %1 = graph.relu %0 : tensor<1x8x4x4xf32>
  return %1 : tensor<1x8x4x4xf32>
}
