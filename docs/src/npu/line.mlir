// A product of more elements than an extent of a feature may have.
func.func @main(%a: tensor<32771xi8>, %b: tensor<32771xi8>) -> tensor<32771xi8> {
  %s = graph.constant dense<0.5> : tensor<f32>
  %z = graph.constant dense<0> : tensor<i8>
  %0 = graph.qlinear_mul %a, %s, %z, %b, %s, %z, %s, %z : (tensor<32771xi8>, tensor<f32>, tensor<i8>, tensor<32771xi8>, tensor<f32>, tensor<i8>, tensor<f32>, tensor<i8>) -> tensor<32771xi8>
  return %0 : tensor<32771xi8>
}
