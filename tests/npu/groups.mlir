// Two groups of channels, and a product of two tensors of three channels.
func.func @main(%x: tensor<1x12x9x7xui8>, %y: tensor<1x3x9x7xui8>, %w: tensor<1x3x9x7xui8>) -> (tensor<1x20x5x4xui8>, tensor<1x3x9x7xui8>) {
  %s = graph.constant dense<0.0625> : tensor<f32>
  %z = graph.constant dense<120> : tensor<ui8>
  %f = graph.constant dense<2> : tensor<20x6x3x3xi8>
  %fs = graph.constant dense<0.01> : tensor<f32>
  %fz = graph.constant dense<1> : tensor<i8>
  %0 = graph.qlinear_conv %x, %s, %z, %f, %fs, %fz, %s, %z {group = 2 : i64, pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 2, 2>} : (tensor<1x12x9x7xui8>, tensor<f32>, tensor<ui8>, tensor<20x6x3x3xi8>, tensor<f32>, tensor<i8>, tensor<f32>, tensor<ui8>) -> tensor<1x20x5x4xui8>
  %1 = graph.qlinear_mul %y, %s, %z, %w, %s, %z, %s, %z : (tensor<1x3x9x7xui8>, tensor<f32>, tensor<ui8>, tensor<1x3x9x7xui8>, tensor<f32>, tensor<ui8>, tensor<f32>, tensor<ui8>) -> tensor<1x3x9x7xui8>
  return %0, %1 : tensor<1x20x5x4xui8>, tensor<1x3x9x7xui8>
}
