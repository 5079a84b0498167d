// RUN: gradus opt %s --convert-graph-to-cluster=clusters=2 --mlir-debug-counter=rewrite-count=2 | FileCheck %s
// RUN: gradus opt %s --convert-graph-to-cluster=clusters=2 --mlir-debug-counter=offload-skip=1 | FileCheck %s --check-prefix=SKIP

// Each layer is a numbered rewrite: the first two are offloaded, the third stays on the host.
// CHECK-LABEL: func.func @f(
// CHECK: %[[A:.*]] = cluster.call @cluster0(%arg0)
// CHECK-NEXT: graph.sigmoid %[[A]]
// CHECK: cluster.program @cluster0

// SKIP-LABEL: func.func @f(
// SKIP: %[[A:.*]] = graph.conv %arg0
// SKIP: cluster.call @cluster0(%[[A]])
// SKIP: cluster.program @cluster0
func.func @f(%x: tensor<1x2x4x4xf16>) -> tensor<1x2x4x4xf16> {
  %w = graph.constant dense<0.5> : tensor<2x2x1x1xf16>
  %0 = graph.conv %x, %w : (tensor<1x2x4x4xf16>, tensor<2x2x1x1xf16>) -> tensor<1x2x4x4xf16>
  %1 = graph.relu %0 : tensor<1x2x4x4xf16>
  %2 = graph.sigmoid %1 : tensor<1x2x4x4xf16>
  return %2 : tensor<1x2x4x4xf16>
}
