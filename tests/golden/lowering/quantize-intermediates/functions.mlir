// RUN: gradus opt %s --quantize-intermediates

// The argument of a function has the range in which the quantized result changes.
func.func @hard_swish(%x: tensor<1x2x4x4xui8>) -> tensor<1x2x4x4xui8> {
  %s = graph.constant dense<0.03125> : tensor<f32>
  %z = graph.constant dense<12> : tensor<ui8>
  %zw = graph.constant dense<0> : tensor<i8>
  %q = graph.constant dense<[[[[100]], [[90]]], [[[-80]], [[-70]]]]> : tensor<2x2x1x1xi8>
  %d = graph.dequantize_linear %x, %s, %z : (tensor<1x2x4x4xui8>, tensor<f32>, tensor<ui8>) -> tensor<1x2x4x4xf32>
  %w = graph.dequantize_linear %q, %s, %zw : (tensor<2x2x1x1xi8>, tensor<f32>, tensor<i8>) -> tensor<2x2x1x1xf32>
  %0 = graph.conv %d, %w : (tensor<1x2x4x4xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x4x4xf32>
  %1 = graph.hard_swish %0 : tensor<1x2x4x4xf32>
  %2 = graph.quantize_linear %1, %s, %z : (tensor<1x2x4x4xf32>, tensor<f32>, tensor<ui8>) -> tensor<1x2x4x4xui8>
  return %2 : tensor<1x2x4x4xui8>
}

// -----

// A residual sum: the other operand has the range that the result does not clamp.
func.func @residual(%x: tensor<1x2x4x4xui8>, %r: tensor<1x2x4x4xui8>) -> tensor<1x2x4x4xui8> {
  %s = graph.constant dense<0.03125> : tensor<f32>
  %z = graph.constant dense<0> : tensor<ui8>
  %zw = graph.constant dense<0> : tensor<i8>
  %q = graph.constant dense<[[[[100]], [[90]]], [[[-80]], [[-70]]]]> : tensor<2x2x1x1xi8>
  %d = graph.dequantize_linear %x, %s, %z : (tensor<1x2x4x4xui8>, tensor<f32>, tensor<ui8>) -> tensor<1x2x4x4xf32>
  %e = graph.dequantize_linear %r, %s, %z : (tensor<1x2x4x4xui8>, tensor<f32>, tensor<ui8>) -> tensor<1x2x4x4xf32>
  %w = graph.dequantize_linear %q, %s, %zw : (tensor<2x2x1x1xi8>, tensor<f32>, tensor<i8>) -> tensor<2x2x1x1xf32>
  %0 = graph.conv %d, %w : (tensor<1x2x4x4xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x4x4xf32>
  %1 = graph.add %0, %e : (tensor<1x2x4x4xf32>, tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32>
  %2 = graph.relu %1 : tensor<1x2x4x4xf32>
  %3 = graph.quantize_linear %2, %s, %z : (tensor<1x2x4x4xf32>, tensor<f32>, tensor<ui8>) -> tensor<1x2x4x4xui8>
  return %3 : tensor<1x2x4x4xui8>
}

// -----

// A sum whose floats are a result too keeps its operands.
func.func @other_use(%x: tensor<1x2x4x4xui8>, %r: tensor<1x2x4x4xui8>) -> (tensor<1x2x4x4xui8>, tensor<1x2x4x4xf32>) {
  %s = graph.constant dense<0.03125> : tensor<f32>
  %z = graph.constant dense<0> : tensor<ui8>
  %d = graph.dequantize_linear %x, %s, %z : (tensor<1x2x4x4xui8>, tensor<f32>, tensor<ui8>) -> tensor<1x2x4x4xf32>
  %e = graph.dequantize_linear %r, %s, %z : (tensor<1x2x4x4xui8>, tensor<f32>, tensor<ui8>) -> tensor<1x2x4x4xf32>
  %0 = graph.sigmoid %d : tensor<1x2x4x4xf32>
  %1 = graph.add %0, %e : (tensor<1x2x4x4xf32>, tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32>
  %2 = graph.quantize_linear %1, %s, %z : (tensor<1x2x4x4xf32>, tensor<f32>, tensor<ui8>) -> tensor<1x2x4x4xui8>
  return %2, %1 : tensor<1x2x4x4xui8>, tensor<1x2x4x4xf32>
}
