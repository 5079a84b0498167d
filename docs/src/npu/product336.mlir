// A product of 336 elements.
func.func @main(%x: tensor<1x8x6x7xi8>, %w: tensor<1x8x6x7xi8>) -> tensor<1x8x6x7xi8> {
  %sa = graph.constant dense<0.0625> : tensor<f32>
  %sb = graph.constant dense<0.0625> : tensor<f32>
  %so = graph.constant dense<0.0625> : tensor<f32>
  %za = graph.constant dense<3> : tensor<i8>
  %zb = graph.constant dense<5> : tensor<i8>
  %zo = graph.constant dense<3> : tensor<i8>
  %0 = graph.qlinear_mul %x, %sa, %za, %w, %sb, %zb, %so, %zo : (tensor<1x8x6x7xi8>, tensor<f32>, tensor<i8>, tensor<1x8x6x7xi8>, tensor<f32>, tensor<i8>, tensor<f32>, tensor<i8>) -> tensor<1x8x6x7xi8>
  return %0 : tensor<1x8x6x7xi8>
}
