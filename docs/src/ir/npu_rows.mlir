// Tiles of five rows, but the result has four.
func.func @main(%x: tensor<1x8x4x4xui8>) -> tensor<1x8x4x4xui8> {
  %scale = graph.constant dense<0.5> : tensor<f32>
  %zero = graph.constant dense<128> : tensor<ui8>
  %w = graph.constant dense<1> : tensor<8x8x3x3xi8>
  %w_scale = graph.constant dense<0.125> : tensor<f32>
  %w_zero = graph.constant dense<0> : tensor<i8>
  %0 = layer.program "npu" -> tensor<1x8x4x4xui8> {
    %1 = layer.fused by [#npu.tiles<rows = 5, kernels = 8>] -> tensor<1x8x4x4xui8> {
      %2 = graph.qlinear_conv %x, %scale, %zero, %w, %w_scale, %w_zero, %scale, %zero {pads = array<i64: 1, 1, 1, 1>} : (tensor<1x8x4x4xui8>, tensor<f32>, tensor<ui8>, tensor<8x8x3x3xi8>, tensor<f32>, tensor<i8>, tensor<f32>, tensor<ui8>) -> tensor<1x8x4x4xui8>
      layer.yield %2 : tensor<1x8x4x4xui8>
    }
    layer.yield %1 : tensor<1x8x4x4xui8>
  }
  return %0 : tensor<1x8x4x4xui8>
}
