// RUN: gradus check %s --form-steps | FileCheck %s

// The extents of a tensor are no view of it, also where they are as many as its elements.
// CHECK: @shape: no difference
func.func @shape(%x: tensor<1x2xi64>) -> tensor<2xi64> {
  %0 = graph.abs %x : tensor<1x2xi64>
  %1 = graph.shape %0 : (tensor<1x2xi64>) -> tensor<2xi64>
  %2 = graph.neg %1 : tensor<2xi64>
  return %2 : tensor<2xi64>
}
