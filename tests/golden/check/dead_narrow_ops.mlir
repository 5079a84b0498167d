// RUN: gradus check %s --convert-f32-to-f16 --canonicalize | FileCheck %s

// The program has as many ops of f16 before the passes as after them, but those lead to nothing: the pass loses what f16 does not hold.
// CHECK: @f: no difference
func.func @f(%known: tensor<3xi1>, %y: f16) -> tensor<?x1xf32> {
  %x = arith.constant dense<[[1.0, 9.999940e-41, 2.0]]> : tensor<1x3xf32>
  %0 = graph.compress %x, %known {axis = 1 : i64} : (tensor<1x3xf32>, tensor<3xi1>) -> tensor<1x?xf32>
  %zero = arith.constant -0.0 : f16
  %1 = arith.divf %zero, %y : f16
  %2 = arith.divf %y, %1 : f16
  %shape = arith.constant dense<[-1, 1]> : tensor<2xi64>
  %3 = graph.reshape %0, %shape : (tensor<1x?xf32>, tensor<2xi64>) -> tensor<?x1xf32>
  return %3 : tensor<?x1xf32>
}
