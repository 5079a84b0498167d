func.func @gate(%x: tensor<1x32x8x8xi8>, %gate: tensor<1x32x1x1xi8>) -> tensor<1x32x8x8xi8> {
  %scale = graph.constant dense<0.0625> : tensor<f32>
  %zero = graph.constant dense<0> : tensor<i8>
  %0 = graph.qlinear_mul %x, %scale, %zero, %gate, %scale, %zero, %scale, %zero : (tensor<1x32x8x8xi8>, tensor<f32>, tensor<i8>, tensor<1x32x1x1xi8>, tensor<f32>, tensor<i8>, tensor<f32>, tensor<i8>) -> tensor<1x32x8x8xi8>
  return %0 : tensor<1x32x8x8xi8>
}
