// RUN: gradus opt %s --refine-shapes | FileCheck %s

// The slice has no rows, and its type says one: it stays as it is.
// CHECK: graph.slice {{.*}} -> tensor<1x?xf16>
func.func @main() -> tensor<1x?xf16> {
  %x = arith.constant dense<0.0> : tensor<1x1xf16>
  %0 = arith.constant dense<0> : tensor<1xi8>
  %1 = arith.constant dense<1> : tensor<1xi8>
  %2 = graph.slice %x, %1, %0 axes %0 steps %1 : (tensor<1x1xf16>, tensor<1xi8>, tensor<1xi8>, tensor<1xi8>, tensor<1xi8>) -> tensor<1x?xf16>
  return %2 : tensor<1x?xf16>
}
