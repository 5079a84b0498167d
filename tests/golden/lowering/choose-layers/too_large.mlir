// RUN: gradus opt %s --choose-layers

// Two rows of the image do not fit into SRAM: the layer leaves its program.
func.func @main(%x: tensor<1x64x1x16384xui8>) -> tensor<1x8x1x16384xui8> {
  %s = graph.constant dense<0.0625> : tensor<f32>
  %z = graph.constant dense<3> : tensor<ui8>
  %f = graph.constant dense<2> : tensor<8x64x1x1xi8>
  %fs = graph.constant dense<0.01> : tensor<f32>
  %fz = graph.constant dense<0> : tensor<i8>
  %0 = layer.program "npu" -> tensor<1x8x1x16384xui8> {
    %1 = layer.fused -> tensor<1x8x1x16384xui8> {
      %2 = graph.qlinear_conv %x, %s, %z, %f, %fs, %fz, %s, %z : (tensor<1x64x1x16384xui8>, tensor<f32>, tensor<ui8>, tensor<8x64x1x1xi8>, tensor<f32>, tensor<i8>, tensor<f32>, tensor<ui8>) -> tensor<1x8x1x16384xui8>
      layer.yield %2 : tensor<1x8x1x16384xui8>
    }
    layer.yield %1 : tensor<1x8x1x16384xui8>
  }
  return %0 : tensor<1x8x1x16384xui8>
}
