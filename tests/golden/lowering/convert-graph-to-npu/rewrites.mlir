// RUN: gradus opt %s --convert-graph-to-npu --mlir-debug-counter=rewrite-count=1 | FileCheck %s

// Each layer is a numbered rewrite: the first is offloaded, the second stays on the host.
// CHECK-LABEL: func.func @f(
// CHECK: %[[A:.*]] = npu.call @npu0
// CHECK: %[[B:.*]] = layout.unpack %[[A]]
// CHECK: graph.qlinear_conv %[[B]]
func.func @f(%x: tensor<1x8x4x4xi8>) -> tensor<1x8x4x4xi8> {
  %s = graph.constant dense<0.5> : tensor<f32>
  %z = graph.constant dense<1> : tensor<i8>
  %w = graph.constant dense<2> : tensor<8x8x1x1xi8>
  %zw = graph.constant dense<0> : tensor<i8>
  %0 = graph.qlinear_conv %x, %s, %z, %w, %s, %zw, %s, %z : (tensor<1x8x4x4xi8>, tensor<f32>, tensor<i8>, tensor<8x8x1x1xi8>, tensor<f32>, tensor<i8>, tensor<f32>, tensor<i8>) -> tensor<1x8x4x4xi8>
  %1 = graph.qlinear_conv %0, %s, %z, %w, %s, %zw, %s, %z : (tensor<1x8x4x4xi8>, tensor<f32>, tensor<i8>, tensor<8x8x1x1xi8>, tensor<f32>, tensor<i8>, tensor<f32>, tensor<i8>) -> tensor<1x8x4x4xi8>
  return %1 : tensor<1x8x4x4xi8>
}
