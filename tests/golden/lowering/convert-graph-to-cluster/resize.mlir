// RUN: gradus opt %s --form-layers=target=cluster --choose-layers | FileCheck %s
// RUN: gradus check %s --convert-graph-to-cluster | FileCheck %s --check-prefix=EQUAL

// Upsampling writes channels of the concatenation, which copies nothing else.
// CHECK-LABEL: @detector
// CHECK-COUNT-3: layer.fused
// CHECK-NOT: layer.fused
// EQUAL: @detector: no difference
func.func @detector(%x: tensor<1x2x3x5xi8>, %y: tensor<1x2x6x10xi8>) -> tensor<1x4x5x9xi8> {
  %n = graph.constant dense<[1, 2, 6, 10]> : tensor<4xi64>
  %0 = graph.resize %x sizes %n {mode = "nearest"} : (tensor<1x2x3x5xi8>, tensor<4xi64>) -> tensor<1x2x6x10xi8>
  %1 = graph.concat %0, %y {axis = 1 : i64} : (tensor<1x2x6x10xi8>, tensor<1x2x6x10xi8>) -> tensor<1x4x6x10xi8>
  %2 = graph.max_pool %1 {kernel_shape = array<i64: 2, 2>} : (tensor<1x4x6x10xi8>) -> tensor<1x4x5x9xi8>
  return %2 : tensor<1x4x5x9xi8>
}
