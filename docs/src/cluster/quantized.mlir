// A quantized layer of several ops: convolution, batch normalization, residual sum and SiLU between dequantize and quantize.
func.func @main(%xq: tensor<1x8x6x5xui8>, %rq: tensor<1x8x6x5xui8>) -> tensor<1x8x6x5xui8> {
  %s = graph.constant dense<0.02> : tensor<f32>
  %z = graph.constant dense<100> : tensor<ui8>
  %sw = graph.constant dense<[0.01, 0.02, 0.01, 0.02, 0.01, 0.02, 0.01, 0.02]> : tensor<8xf32>
  %zw = graph.constant dense<0> : tensor<8xi8>
  %wq = graph.constant dense<7> : tensor<8x8x1x1xi8>
  %g = graph.constant dense<[1.0, 1.25, 1.5, 1.75, 1.0, 1.25, 1.5, 1.75]> : tensor<8xf32>
  %x = graph.dequantize_linear %xq, %s, %z : (tensor<1x8x6x5xui8>, tensor<f32>, tensor<ui8>) -> tensor<1x8x6x5xf32>
  %r = graph.dequantize_linear %rq, %s, %z : (tensor<1x8x6x5xui8>, tensor<f32>, tensor<ui8>) -> tensor<1x8x6x5xf32>
  %w = graph.dequantize_linear %wq, %sw, %zw {axis = 0 : i64} : (tensor<8x8x1x1xi8>, tensor<8xf32>, tensor<8xi8>) -> tensor<8x8x1x1xf32>
  %0 = graph.conv %x, %w : (tensor<1x8x6x5xf32>, tensor<8x8x1x1xf32>) -> tensor<1x8x6x5xf32>
  %1 = graph.batch_normalization %0, %g, %g, %g, %g : (tensor<1x8x6x5xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<1x8x6x5xf32>
  %2 = graph.add %1, %r : (tensor<1x8x6x5xf32>, tensor<1x8x6x5xf32>) -> tensor<1x8x6x5xf32>
  %3 = graph.sigmoid %2 : tensor<1x8x6x5xf32>
  %4 = graph.mul %2, %3 : (tensor<1x8x6x5xf32>, tensor<1x8x6x5xf32>) -> tensor<1x8x6x5xf32>
  %sy = graph.constant dense<0.022> : tensor<f32>
  %zy = graph.constant dense<13> : tensor<ui8>
  %5 = graph.quantize_linear %4, %sy, %zy : (tensor<1x8x6x5xf32>, tensor<f32>, tensor<ui8>) -> tensor<1x8x6x5xui8>
  return %5 : tensor<1x8x6x5xui8>
}
