// The product of `move.mlir`.
func.func @main(%a: tensor<1x1x12xi8>, %b: tensor<1x1x12xi8>) -> tensor<1x1x12xi8> {
  %half = graph.constant dense<0.5> : tensor<f32>
  %one = graph.constant dense<1.0> : tensor<f32>
  %zero = graph.constant dense<0> : tensor<i8>
  %five = graph.constant dense<5> : tensor<i8>
  %0 = graph.qlinear_mul %a, %half, %zero, %b, %half, %zero, %one, %five : (tensor<1x1x12xi8>, tensor<f32>, tensor<i8>, tensor<1x1x12xi8>, tensor<f32>, tensor<i8>, tensor<f32>, tensor<i8>) -> tensor<1x1x12xi8>
  return %0 : tensor<1x1x12xi8>
}
