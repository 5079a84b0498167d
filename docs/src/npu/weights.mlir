// A convolution of four channels, for each of which an address in 8K8D has as much padding as weights.
func.func @main(%x: tensor<1x4x6x6xi8>) -> tensor<1x64x6x6xi8> {
  %s = graph.constant dense<0.0625> : tensor<f32>
  %z = graph.constant dense<3> : tensor<i8>
  %w = graph.constant dense<2> : tensor<64x4x3x3xi8>
  %wz = graph.constant dense<0> : tensor<i8>
  %0 = graph.qlinear_conv %x, %s, %z, %w, %s, %wz, %s, %z {pads = array<i64: 1, 1, 1, 1>} : (tensor<1x4x6x6xi8>, tensor<f32>, tensor<i8>, tensor<64x4x3x3xi8>, tensor<f32>, tensor<i8>, tensor<f32>, tensor<i8>) -> tensor<1x64x6x6xi8>
  return %0 : tensor<1x64x6x6xi8>
}
// MODE: #npu.tiles<{{.*}}mode = "2k4d"
