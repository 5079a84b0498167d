// Two convolutions, their product, and a convolution of that.
func.func @main(%x: tensor<1x16x8x8xi8>) -> tensor<1x16x8x8xi8> {
  %s = graph.constant dense<0.0625> : tensor<f32>
  %z = graph.constant dense<3> : tensor<i8>
  %f = graph.constant dense<2> : tensor<16x16x1x1xi8>
  %g = graph.constant dense<-1> : tensor<16x16x1x1xi8>
  %fz = graph.constant dense<0> : tensor<i8>
  %0 = graph.qlinear_conv %x, %s, %z, %f, %s, %fz, %s, %z : (tensor<1x16x8x8xi8>, tensor<f32>, tensor<i8>, tensor<16x16x1x1xi8>, tensor<f32>, tensor<i8>, tensor<f32>, tensor<i8>) -> tensor<1x16x8x8xi8>
  %1 = graph.qlinear_conv %x, %s, %z, %g, %s, %fz, %s, %z : (tensor<1x16x8x8xi8>, tensor<f32>, tensor<i8>, tensor<16x16x1x1xi8>, tensor<f32>, tensor<i8>, tensor<f32>, tensor<i8>) -> tensor<1x16x8x8xi8>
  %2 = graph.qlinear_mul %0, %s, %z, %1, %s, %z, %s, %z : (tensor<1x16x8x8xi8>, tensor<f32>, tensor<i8>, tensor<1x16x8x8xi8>, tensor<f32>, tensor<i8>, tensor<f32>, tensor<i8>) -> tensor<1x16x8x8xi8>
  %3 = graph.qlinear_conv %2, %s, %z, %g, %s, %fz, %s, %z : (tensor<1x16x8x8xi8>, tensor<f32>, tensor<i8>, tensor<16x16x1x1xi8>, tensor<f32>, tensor<i8>, tensor<f32>, tensor<i8>) -> tensor<1x16x8x8xi8>
  return %3 : tensor<1x16x8x8xi8>
}
// MODEL: layer.fused by [#npu.tiles<{{.*}}to = "sram"
// MODEL-NEXT: graph.qlinear_conv
// MODEL: layer.fused by [#npu.tiles<{{.*}}to = "sram"
// MODEL-NEXT: graph.qlinear_conv
// MODEL: layer.fused by [#npu.tiles<{{.*}}to = "sram"
// MODEL-NEXT: graph.qlinear_mul
// MODEL: layer.fused by [#npu.tiles<
// MODEL-NEXT: graph.qlinear_conv
