// RUN: gradus opt %s --schedule-layers --place-buffers

// What both steps read is loaded before them; the tiles of the result share no bytes with what is still live.
func.func @main(%x: tensor<1x8x4x4xui8>) -> tensor<1x8x4x4xui8> {
  %s = graph.constant dense<0.0625> : tensor<f32>
  %z = graph.constant dense<3> : tensor<ui8>
  %f = graph.constant dense<2> : tensor<8x8x3x3xi8>
  %fs = graph.constant dense<0.01> : tensor<f32>
  %fz = graph.constant dense<0> : tensor<i8>
  %0 = layer.program "npu" -> tensor<1x8x4x4xui8> {
    %1 = layer.fused "conv" by [#npu.tiles<rows = 2, kernels = 8>] -> tensor<1x8x4x4xui8> {
      %2 = graph.qlinear_conv %x, %s, %z, %f, %fs, %fz, %s, %z {pads = array<i64: 1, 1, 1, 1>} : (tensor<1x8x4x4xui8>, tensor<f32>, tensor<ui8>, tensor<8x8x3x3xi8>, tensor<f32>, tensor<i8>, tensor<f32>, tensor<ui8>) -> tensor<1x8x4x4xui8>
      layer.yield %2 : tensor<1x8x4x4xui8>
    }
    layer.yield %1 : tensor<1x8x4x4xui8>
  }
  return %0 : tensor<1x8x4x4xui8>
}
