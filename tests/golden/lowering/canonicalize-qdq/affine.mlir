// RUN: gradus opt %s --canonicalize-qdq

// The scales of weights and the bias take in what follows for each column; a negative factor negates the weights.
func.func @normalized(%x: tensor<1x2x4x4xui8>) -> tensor<1x2x4x4xui8> {
  %s = graph.constant dense<0.5> : tensor<f32>
  %z = graph.constant dense<1> : tensor<ui8>
  %zw = graph.constant dense<0> : tensor<i8>
  %q = graph.constant dense<[[[[2]], [[3]]], [[[4]], [[-5]]]]> : tensor<2x2x1x1xi8>
  %scale = graph.constant dense<[4.0, -1.0]> : tensor<2xf32>
  %shift = graph.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %mean = graph.constant dense<[0.5, 0.25]> : tensor<2xf32>
  %var = graph.constant dense<[4.0, 0.25]> : tensor<2xf32>
  %c = graph.constant dense<[[[0.25]], [[0.75]]]> : tensor<2x1x1xf32>
  %d = graph.dequantize_linear %x, %s, %z : (tensor<1x2x4x4xui8>, tensor<f32>, tensor<ui8>) -> tensor<1x2x4x4xf32>
  %w = graph.dequantize_linear %q, %s, %zw : (tensor<2x2x1x1xi8>, tensor<f32>, tensor<i8>) -> tensor<2x2x1x1xf32>
  %0 = graph.conv %d, %w : (tensor<1x2x4x4xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x4x4xf32>
  %1 = graph.add %0, %c : (tensor<1x2x4x4xf32>, tensor<2x1x1xf32>) -> tensor<1x2x4x4xf32>
  %2 = graph.batch_normalization %1, %scale, %shift, %mean, %var {epsilon = 0.0 : f32} : (tensor<1x2x4x4xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<1x2x4x4xf32>
  %3 = graph.relu %2 : tensor<1x2x4x4xf32>
  %4 = graph.quantize_linear %3, %s, %z : (tensor<1x2x4x4xf32>, tensor<f32>, tensor<ui8>) -> tensor<1x2x4x4xui8>
  return %4 : tensor<1x2x4x4xui8>
}

// -----

// A product of matrices gets a bias as a `graph.gemm`, and the quantization moves before the reshape.
func.func @rows(%x: tensor<2x3x4xi8>) -> tensor<2x3x2xi8> {
  %s = graph.constant dense<0.5> : tensor<f32>
  %z = graph.constant dense<1> : tensor<i8>
  %q = graph.constant dense<2> : tensor<4x2xi8>
  %c = graph.constant dense<[0.25, 0.5]> : tensor<2xf32>
  %d = graph.dequantize_linear %x, %s, %z : (tensor<2x3x4xi8>, tensor<f32>, tensor<i8>) -> tensor<2x3x4xf32>
  %w = graph.dequantize_linear %q, %s, %z : (tensor<4x2xi8>, tensor<f32>, tensor<i8>) -> tensor<4x2xf32>
  %0 = graph.matmul %d, %w : (tensor<2x3x4xf32>, tensor<4x2xf32>) -> tensor<2x3x2xf32>
  %1 = graph.add %c, %0 : (tensor<2xf32>, tensor<2x3x2xf32>) -> tensor<2x3x2xf32>
  %2 = graph.quantize_linear %1, %s, %z : (tensor<2x3x2xf32>, tensor<f32>, tensor<i8>) -> tensor<2x3x2xi8>
  return %2 : tensor<2x3x2xi8>
}
