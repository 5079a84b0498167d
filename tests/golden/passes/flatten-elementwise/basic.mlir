// RUN: gradus opt %s --flatten-elementwise

func.func @mask(%x: tensor<1x8x6x7xi8>, %w: tensor<1x1x6x7xi8>, %s: tensor<f32>, %z: tensor<i8>) -> tensor<1x8x6x7xi8> {
  %0 = graph.qlinear_mul %x, %s, %z, %w, %s, %z, %s, %z : (tensor<1x8x6x7xi8>, tensor<f32>, tensor<i8>, tensor<1x1x6x7xi8>, tensor<f32>, tensor<i8>, tensor<f32>, tensor<i8>) -> tensor<1x8x6x7xi8>
  return %0 : tensor<1x8x6x7xi8>
}
func.func @channels_of_images(%x: tensor<2x8x6x7xi8>, %w: tensor<2x8x1x1xi8>, %s: tensor<f32>, %z: tensor<i8>) -> tensor<2x8x6x7xi8> {
  %0 = graph.qlinear_mul %x, %s, %z, %w, %s, %z, %s, %z : (tensor<2x8x6x7xi8>, tensor<f32>, tensor<i8>, tensor<2x8x1x1xi8>, tensor<f32>, tensor<i8>, tensor<f32>, tensor<i8>) -> tensor<2x8x6x7xi8>
  return %0 : tensor<2x8x6x7xi8>
}
func.func @scalar(%x: tensor<i8>, %w: tensor<3x5xi8>, %s: tensor<f32>, %z: tensor<i8>) -> tensor<3x5xi8> {
  %0 = graph.qlinear_mul %x, %s, %z, %w, %s, %z, %s, %z : (tensor<i8>, tensor<f32>, tensor<i8>, tensor<3x5xi8>, tensor<f32>, tensor<i8>, tensor<f32>, tensor<i8>) -> tensor<3x5xi8>
  return %0 : tensor<3x5xi8>
}
func.func @outer(%x: tensor<4x1xi8>, %w: tensor<1x6xi8>, %s: tensor<f32>, %z: tensor<i8>) -> tensor<4x6xi8> {
  %0 = graph.qlinear_add %x, %s, %z, %w, %s, %z, %s, %z : (tensor<4x1xi8>, tensor<f32>, tensor<i8>, tensor<1x6xi8>, tensor<f32>, tensor<i8>, tensor<f32>, tensor<i8>) -> tensor<4x6xi8>
  return %0 : tensor<4x6xi8>
}
func.func @tokens(%x: tensor<12x8xi8>, %w: tensor<8xi8>, %s: tensor<f32>, %z: tensor<i8>) -> tensor<12x8xi8> {
  %0 = graph.qlinear_mul %x, %s, %z, %w, %s, %z, %s, %z : (tensor<12x8xi8>, tensor<f32>, tensor<i8>, tensor<8xi8>, tensor<f32>, tensor<i8>, tensor<f32>, tensor<i8>) -> tensor<12x8xi8>
  return %0 : tensor<12x8xi8>
}
