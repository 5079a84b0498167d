// A gate: the product of two convolutions, which another convolution reads.
func.func @main(%x: tensor<1x32x28x28xui8>) -> (tensor<1x32x28x28xui8>) {
  %s = graph.constant dense<0.0625> : tensor<f32>
  %z = graph.constant dense<120> : tensor<ui8>
  %f = graph.constant dense<2> : tensor<32x32x3x3xi8>
  %g = graph.constant dense<-1> : tensor<32x32x1x1xi8>
  %h = graph.constant dense<3> : tensor<32x32x1x1xi8>
  %fs = graph.constant dense<0.001> : tensor<f32>
  %fz = graph.constant dense<0> : tensor<i8>
  %0 = graph.qlinear_conv %x, %s, %z, %f, %fs, %fz, %s, %z {pads = array<i64: 1, 1, 1, 1>} : (tensor<1x32x28x28xui8>, tensor<f32>, tensor<ui8>, tensor<32x32x3x3xi8>, tensor<f32>, tensor<i8>, tensor<f32>, tensor<ui8>) -> tensor<1x32x28x28xui8>
  %1 = graph.qlinear_conv %x, %s, %z, %g, %fs, %fz, %s, %z : (tensor<1x32x28x28xui8>, tensor<f32>, tensor<ui8>, tensor<32x32x1x1xi8>, tensor<f32>, tensor<i8>, tensor<f32>, tensor<ui8>) -> tensor<1x32x28x28xui8>
  %2 = graph.qlinear_mul %0, %s, %z, %1, %s, %z, %s, %z : (tensor<1x32x28x28xui8>, tensor<f32>, tensor<ui8>, tensor<1x32x28x28xui8>, tensor<f32>, tensor<ui8>, tensor<f32>, tensor<ui8>) -> tensor<1x32x28x28xui8>
  %3 = graph.qlinear_conv %2, %s, %z, %h, %fs, %fz, %s, %z : (tensor<1x32x28x28xui8>, tensor<f32>, tensor<ui8>, tensor<32x32x1x1xi8>, tensor<f32>, tensor<i8>, tensor<f32>, tensor<ui8>) -> tensor<1x32x28x28xui8>
  return %3 : tensor<1x32x28x28xui8>
}
