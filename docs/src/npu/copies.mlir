// A convolution, of which half of the rows is multiplied by the other half.
func.func @main(%x: tensor<1x16x8x8xi8>) -> tensor<1x16x4x8xi8> {
  %s = graph.constant dense<0.0625> : tensor<f32>
  %z = graph.constant dense<3> : tensor<i8>
  %w = graph.constant dense<2> : tensor<16x16x1x1xi8>
  %wz = graph.constant dense<0> : tensor<i8>
  %first = graph.constant dense<0> : tensor<1xi64>
  %half = graph.constant dense<4> : tensor<1xi64>
  %end = graph.constant dense<8> : tensor<1xi64>
  %rows = graph.constant dense<2> : tensor<1xi64>
  %0 = graph.qlinear_conv %x, %s, %z, %w, %s, %wz, %s, %z : (tensor<1x16x8x8xi8>, tensor<f32>, tensor<i8>, tensor<16x16x1x1xi8>, tensor<f32>, tensor<i8>, tensor<f32>, tensor<i8>) -> tensor<1x16x8x8xi8>
  %a = graph.slice %0, %first, %half axes %rows : (tensor<1x16x8x8xi8>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<1x16x4x8xi8>
  %b = graph.slice %0, %half, %end axes %rows : (tensor<1x16x8x8xi8>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<1x16x4x8xi8>
  %1 = graph.qlinear_mul %a, %s, %z, %b, %s, %z, %s, %z : (tensor<1x16x4x8xi8>, tensor<f32>, tensor<i8>, tensor<1x16x4x8xi8>, tensor<f32>, tensor<i8>, tensor<f32>, tensor<i8>) -> tensor<1x16x4x8xi8>
  return %1 : tensor<1x16x4x8xi8>
}
// MOVE: npu.move
