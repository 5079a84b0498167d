// RUN: gradus check %s --convert-sparse-to-x64=isa=avx512 --floats=rounding | FileCheck %s
// RUN: gradus check %s --convert-sparse-to-x64=isa=avx2 --floats=rounding | FileCheck %s

// One element of the residual is poison: the code adds it to one element of the result, and the others are numbers.
// CHECK: @residual: no difference
func.func @residual(%x: tensor<1x2x4x8xf32>, %r: tensor<1x2x4x8xf32>) -> tensor<1x2x4x8xf32> {
  %w = graph.constant dense<[[[[1.5]], [[0.0]]], [[[0.0]], [[2.0]]]]> : tensor<2x2x1x1xf32>
  %0 = sparse.conv %x, %w : (tensor<1x2x4x8xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x4x8xf32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %p = ub.poison : f32
  %1 = tensor.insert %p into %r[%c0, %c1, %c1, %c0] : tensor<1x2x4x8xf32>
  %2 = graph.add %0, %1 : (tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32>) -> tensor<1x2x4x8xf32>
  return %2 : tensor<1x2x4x8xf32>
}
