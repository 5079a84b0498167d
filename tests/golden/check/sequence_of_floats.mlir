// RUN: gradus check %s --convert-sparse-to-x64=isa=avx2 --floats=rounding | FileCheck %s

// Numbers in a sequence are compared as those of a tensor: the code rounds once where the reference rounds twice.
// CHECK: @sequence: no difference
func.func @sequence(%x: tensor<1x3x4x8xf32>) -> !graph.sequence<tensor<1x2x4x8xf32>> {
  %w = graph.constant dense<[[[[0.3]], [[0.7]], [[0.0]]], [[[0.0]], [[0.1]], [[0.9]]]]> : tensor<2x3x1x1xf32>
  %0 = sparse.conv %x, %w : (tensor<1x3x4x8xf32>, tensor<2x3x1x1xf32>) -> tensor<1x2x4x8xf32>
  %1 = graph.sequence_construct %0 : (tensor<1x2x4x8xf32>) -> !graph.sequence<tensor<1x2x4x8xf32>>
  return %1 : !graph.sequence<tensor<1x2x4x8xf32>>
}
