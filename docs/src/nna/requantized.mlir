// A quantized product: sums, then bytes by vector instructions.
func.func @main(%a: tensor<32x36xi8>) -> tensor<32x64xi8> {
  %b = graph.constant dense<3> : tensor<36x64xi8>
  %s = graph.constant dense<0.05> : tensor<f32>
  %z = graph.constant dense<0> : tensor<i8>
  %zy = graph.constant dense<7> : tensor<i8>
  %0 = graph.qlinear_matmul %a, %s, %z, %b, %s, %z, %s, %zy : (tensor<32x36xi8>, tensor<f32>, tensor<i8>, tensor<36x64xi8>, tensor<f32>, tensor<i8>, tensor<f32>, tensor<i8>) -> tensor<32x64xi8>
  return %0 : tensor<32x64xi8>
}
// RQ: nndrdocb
// RQ: rq
