// RUN: gradus opt %s --saturate="target=npu rules=mul-as-conv" --saturate-report=- | FileCheck %s

// COM: A poison element makes an element of a product poison, but all elements of a convolution.
// CHECK:     // @element:
// CHECK-NOT: graph.conv
func.func @element(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %i = arith.constant 2 : index
  %poison = ub.poison : f32
  %z = tensor.insert %poison into %x[%i] : tensor<4xf32>
  %0 = graph.mul %z, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// COM: The argument of a function that others call may have one.
// CHECK:     // @argument:
// CHECK-NOT: graph.conv
func.func private @argument(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %0 = graph.mul %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// CHECK:     // @none:
// CHECK:     graph.conv
func.func @none(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %c = graph.constant dense<2.0> : tensor<4xf32>
  %r = graph.relu %x : tensor<4xf32>
  %z = graph.add %r, %c : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %0 = graph.mul %z, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
