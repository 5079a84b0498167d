// The example of three channels of 3x3 elements.
func.func @main(%a: tensor<1x3x3x3xi8>, %b: tensor<1x3x3x3xi8>) -> tensor<1x3x3x3xi8> {
  %s = graph.constant dense<0.5> : tensor<f32>
  %z = graph.constant dense<0> : tensor<i8>
  %0 = graph.qlinear_mul %a, %s, %z, %b, %s, %z, %s, %z : (tensor<1x3x3x3xi8>, tensor<f32>, tensor<i8>, tensor<1x3x3x3xi8>, tensor<f32>, tensor<i8>, tensor<f32>, tensor<i8>) -> tensor<1x3x3x3xi8>
  return %0 : tensor<1x3x3x3xi8>
}
// FORM: npu.dwconv feature [0, 1, 8, 0, 0, 8] weights [64,
// FORM-SAME: input [1, 1] output [1, 1, 27] depth 1 kernel [1, 1]
