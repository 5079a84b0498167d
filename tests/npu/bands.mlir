// Two convolutions of a concatenation that does not fit into SRAM, and a pool that alone reads it.
func.func @main(%x: tensor<1x16x100x100xui8>) -> tensor<1x32x50x50xui8> {
  %s = graph.constant dense<0.0625> : tensor<f32>
  %z = graph.constant dense<120> : tensor<ui8>
  %a = graph.constant dense<2> : tensor<16x16x3x3xi8>
  %b = graph.constant dense<1> : tensor<16x16x1x1xi8>
  %ws = graph.constant dense<0.01> : tensor<f32>
  %wz = graph.constant dense<1> : tensor<i8>
  %0 = graph.qlinear_conv %x, %s, %z, %a, %ws, %wz, %s, %z {pads = array<i64: 1, 1, 1, 1>} : (tensor<1x16x100x100xui8>, tensor<f32>, tensor<ui8>, tensor<16x16x3x3xi8>, tensor<f32>, tensor<i8>, tensor<f32>, tensor<ui8>) -> tensor<1x16x100x100xui8>
  %1 = graph.qlinear_conv %x, %s, %z, %b, %ws, %wz, %s, %z : (tensor<1x16x100x100xui8>, tensor<f32>, tensor<ui8>, tensor<16x16x1x1xi8>, tensor<f32>, tensor<i8>, tensor<f32>, tensor<ui8>) -> tensor<1x16x100x100xui8>
  %2 = graph.concat %0, %1 {axis = 1 : i64} : (tensor<1x16x100x100xui8>, tensor<1x16x100x100xui8>) -> tensor<1x32x100x100xui8>
  %3 = graph.max_pool %2 {kernel_shape = array<i64: 3, 3>, strides = array<i64: 2, 2>, pads = array<i64: 1, 1, 1, 1>} : (tensor<1x32x100x100xui8>) -> tensor<1x32x50x50xui8>
  return %3 : tensor<1x32x50x50xui8>
}
