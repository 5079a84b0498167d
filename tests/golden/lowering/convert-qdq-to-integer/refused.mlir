// RUN: gradus opt %s --convert-qdq-to-integer --split-input-file --verify-diagnostics

func.func @floats(%x: tensor<1x8x4x4xf32>) -> tensor<1x2x4x4xi8> {
  %s = graph.constant dense<0.5> : tensor<f32>
  %z = graph.constant dense<1> : tensor<i8>
  %q = graph.constant dense<2> : tensor<2x8x1x1xi8>
  %w = graph.dequantize_linear %q, %s, %z : (tensor<2x8x1x1xi8>, tensor<f32>, tensor<i8>) -> tensor<2x8x1x1xf32>
  // expected-remark@+1 {{'graph.conv' stays in floats: floats that are not quantized (operand 'x')}}
  %0 = graph.conv %x, %w : (tensor<1x8x4x4xf32>, tensor<2x8x1x1xf32>) -> tensor<1x2x4x4xf32>
  %1 = graph.quantize_linear %0, %s, %z : (tensor<1x2x4x4xf32>, tensor<f32>, tensor<i8>) -> tensor<1x2x4x4xi8>
  return %1 : tensor<1x2x4x4xi8>
}

// -----

func.func @products(%x: tensor<2x4xi8>, %y: tensor<4x3xi8>) -> tensor<2x3xi8> {
  %s = graph.constant dense<0.5> : tensor<f32>
  %z = graph.constant dense<1> : tensor<i8>
  %a = graph.dequantize_linear %x, %s, %z : (tensor<2x4xi8>, tensor<f32>, tensor<i8>) -> tensor<2x4xf32>
  %b = graph.dequantize_linear %y, %s, %z : (tensor<4x3xi8>, tensor<f32>, tensor<i8>) -> tensor<4x3xf32>
  // expected-remark@+1 {{'graph.matmul' stays in floats: weights that are not constant (operand 'b')}}
  %0 = graph.matmul %a, %b : (tensor<2x4xf32>, tensor<4x3xf32>) -> tensor<2x3xf32>
  %1 = graph.quantize_linear %0, %s, %z : (tensor<2x3xf32>, tensor<f32>, tensor<i8>) -> tensor<2x3xi8>
  return %1 : tensor<2x3xi8>
}

// -----

func.func @other_uses(%x: tensor<2x4xi8>, %y: tensor<2x4xi8>) -> (tensor<2x4xi8>, tensor<2x4xf32>) {
  %s = graph.constant dense<0.5> : tensor<f32>
  %z = graph.constant dense<1> : tensor<i8>
  %a = graph.dequantize_linear %x, %s, %z : (tensor<2x4xi8>, tensor<f32>, tensor<i8>) -> tensor<2x4xf32>
  %b = graph.dequantize_linear %y, %s, %z : (tensor<2x4xi8>, tensor<f32>, tensor<i8>) -> tensor<2x4xf32>
  // expected-remark@+1 {{'graph.add' stays in floats: floats with other uses}}
  %0 = graph.add %a, %b : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %1 = graph.quantize_linear %0, %s, %z : (tensor<2x4xf32>, tensor<f32>, tensor<i8>) -> tensor<2x4xi8>
  return %1, %0 : tensor<2x4xi8>, tensor<2x4xf32>
}
