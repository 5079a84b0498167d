// RUN: gradus check %s --target=cpu | FileCheck %s

// A bound that is NaN makes all results NaN, also of kernels that clamp by maximum and minimum, and after another clamp.
// CHECK: @products: unchanged
// CHECK: @windows: no difference
// CHECK: @clamped: unchanged
// CHECK: @products on cpu with 1 thread: no difference
func.func @products(%x: tensor<4xf32>, %b: tensor<2x2xf32>) -> (tensor<2x2xf32>, tensor<2x2xf32>) {
  %base = arith.constant dense<[0, 2]> : tensor<2xi32>
  %relative = arith.constant dense<[0, 1]> : tensor<2xi32>
  %0 = addr.gemm %x[%base + %relative], %b {low = 0x7FC00000 : f32} : (tensor<4xf32>, tensor<2xi32>, tensor<2xi32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %1 = addr.gemm %x[%base + %relative], %b {high = 0x7FC00000 : f32} : (tensor<4xf32>, tensor<2xi32>, tensor<2xi32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  return %0, %1 : tensor<2x2xf32>, tensor<2x2xf32>
}
func.func @windows(%x: tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32> {
  %low = graph.constant dense<0x7FC00000> : tensor<f32>
  %w = graph.constant dense<0.5> : tensor<2x1x3x3xf32>
  %0 = graph.conv %x, %w {group = 2 : i64, pads = array<i64: 1, 1, 1, 1>} : (tensor<1x2x4x4xf32>, tensor<2x1x3x3xf32>) -> tensor<1x2x4x4xf32>
  %1 = graph.clip %0 min %low : (tensor<1x2x4x4xf32>, tensor<f32>) -> tensor<1x2x4x4xf32>
  return %1 : tensor<1x2x4x4xf32>
}
func.func @clamped(%x: tensor<4xf32>, %b: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %base = arith.constant dense<[0, 2]> : tensor<2xi32>
  %relative = arith.constant dense<[0, 1]> : tensor<2xi32>
  %0 = addr.gemm %x[%base + %relative], %b {low = 0x7FC00000 : f32} : (tensor<4xf32>, tensor<2xi32>, tensor<2xi32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %1 = graph.relu %0 : tensor<2x2xf32>
  return %1 : tensor<2x2xf32>
}
