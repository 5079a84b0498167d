// RUN: not gradus check %s --choose-layouts 2>&1 | FileCheck %s

// A zero of a filter times infinity is no number in the dense form, and nothing in the sparse one. Unless bits are compared, a
// result that is finite before the pass only says nothing, if a constant of the program is not finite.
// CHECK: inconclusive for 1 of 2 functions
func.func @special(%bias: tensor<1xf32>) -> tensor<1x1x10x10xf32> {
  %filter = arith.constant dense<0.0> : tensor<1x1x1x1xf32>
  %image = arith.constant dense<0x7F800000> : tensor<1x1x8x8xf32>
  %0 = sparse.conv %image, %filter, %bias {pads = array<i64: 1, 1, 1, 1>} : (tensor<1x1x8x8xf32>, tensor<1x1x1x1xf32>, tensor<1xf32>) -> tensor<1x1x10x10xf32>
  return %0 : tensor<1x1x10x10xf32>
}

func.func @finite(%bias: tensor<1xf32>) -> tensor<1x1x10x10xf32> {
  %filter = arith.constant dense<0.0> : tensor<1x1x1x1xf32>
  %image = arith.constant dense<3.0e+38> : tensor<1x1x8x8xf32>
  %0 = sparse.conv %image, %filter, %bias {pads = array<i64: 1, 1, 1, 1>} : (tensor<1x1x8x8xf32>, tensor<1x1x1x1xf32>, tensor<1xf32>) -> tensor<1x1x10x10xf32>
  return %0 : tensor<1x1x10x10xf32>
}
