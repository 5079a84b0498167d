// RUN: gradus check %s --canonicalize | FileCheck %s

// The slice has other extents than its type, which has no elements: its result is empty, not four elements of which one is poison.
// CHECK: @f: no difference
func.func @f(%x: tensor<4xf32>) -> (tensor<0xf32>, tensor<4xf32>) {
  %p = ub.poison : f32
  %c0 = arith.constant 0 : index
  %0 = tensor.insert %p into %x[%c0] : tensor<4xf32>
  %starts = graph.constant dense<0> : tensor<1xi64>
  %ends = graph.constant dense<4> : tensor<1xi64>
  %1 = graph.slice %0, %starts, %ends : (tensor<4xf32>, tensor<1xi64>, tensor<1xi64>) -> tensor<0xf32>
  return %1, %x : tensor<0xf32>, tensor<4xf32>
}
