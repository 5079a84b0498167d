// RUN: gradus opt %s --convert-qdq-to-integer

// Elements move as integers, and the quantization to the same parameters disappears.
func.func @moved(%x: tensor<1x2x4x4xui8>) -> tensor<1x8xui8> {
  %s = graph.constant dense<0.5> : tensor<f32>
  %z = graph.constant dense<3> : tensor<ui8>
  %0 = graph.dequantize_linear %x, %s, %z : (tensor<1x2x4x4xui8>, tensor<f32>, tensor<ui8>) -> tensor<1x2x4x4xf32>
  %1 = graph.max_pool %0 {kernel_shape = array<i64: 2, 2>, strides = array<i64: 2, 2>} : (tensor<1x2x4x4xf32>) -> tensor<1x2x2x2xf32>
  %2 = graph.quantize_linear %1, %s, %z : (tensor<1x2x2x2xf32>, tensor<f32>, tensor<ui8>) -> tensor<1x2x2x2xui8>
  %3 = graph.dequantize_linear %2, %s, %z : (tensor<1x2x2x2xui8>, tensor<f32>, tensor<ui8>) -> tensor<1x2x2x2xf32>
  %4 = graph.flatten %3 : (tensor<1x2x2x2xf32>) -> tensor<1x8xf32>
  %5 = graph.quantize_linear %4, %s, %z : (tensor<1x8xf32>, tensor<f32>, tensor<ui8>) -> tensor<1x8xui8>
  return %5 : tensor<1x8xui8>
}

// -----

// The sum is also used as floats, the scale is an argument, and weights vary: nothing changes.
func.func @kept(%x: tensor<1x2x2xui8>, %t: tensor<f32>, %w: tensor<1x2x1xui8>) -> (tensor<1x2x2xui8>, tensor<1x2x2xf32>, tensor<1x2x2xui8>, tensor<1x1x2xui8>) {
  %s = graph.constant dense<0.5> : tensor<f32>
  %z = graph.constant dense<3> : tensor<ui8>
  %0 = graph.dequantize_linear %x, %s, %z : (tensor<1x2x2xui8>, tensor<f32>, tensor<ui8>) -> tensor<1x2x2xf32>
  %1 = graph.dequantize_linear %x, %t, %z : (tensor<1x2x2xui8>, tensor<f32>, tensor<ui8>) -> tensor<1x2x2xf32>
  %2 = graph.add %0, %1 : (tensor<1x2x2xf32>, tensor<1x2x2xf32>) -> tensor<1x2x2xf32>
  %3 = graph.relu %2 : tensor<1x2x2xf32>
  %4 = graph.quantize_linear %3, %s, %z : (tensor<1x2x2xf32>, tensor<f32>, tensor<ui8>) -> tensor<1x2x2xui8>
  %5 = graph.quantize_linear %1, %t, %z : (tensor<1x2x2xf32>, tensor<f32>, tensor<ui8>) -> tensor<1x2x2xui8>
  %6 = graph.dequantize_linear %w, %s, %z : (tensor<1x2x1xui8>, tensor<f32>, tensor<ui8>) -> tensor<1x2x1xf32>
  %7 = graph.conv %0, %6 : (tensor<1x2x2xf32>, tensor<1x2x1xf32>) -> tensor<1x1x2xf32>
  %8 = graph.quantize_linear %7, %s, %z : (tensor<1x1x2xf32>, tensor<f32>, tensor<ui8>) -> tensor<1x1x2xui8>
  return %4, %3, %5, %8 : tensor<1x2x2xui8>, tensor<1x2x2xf32>, tensor<1x2x2xui8>, tensor<1x1x2xui8>
}

// -----

// A split moves with all its results; one part has other parameters after it.
func.func @split(%x: tensor<1x4x2xui8>) -> (tensor<1x2x2xui8>, tensor<1x2x2xui8>) {
  %s = graph.constant dense<0.5> : tensor<f32>
  %t = graph.constant dense<0.25> : tensor<f32>
  %z = graph.constant dense<3> : tensor<ui8>
  %sizes = graph.constant dense<2> : tensor<2xi64>
  %0 = graph.dequantize_linear %x, %s, %z : (tensor<1x4x2xui8>, tensor<f32>, tensor<ui8>) -> tensor<1x4x2xf32>
  %1:2 = graph.split %0, %sizes {axis = 1 : i64} : (tensor<1x4x2xf32>, tensor<2xi64>) -> (tensor<1x2x2xf32>, tensor<1x2x2xf32>)
  %2 = graph.quantize_linear %1#0, %s, %z : (tensor<1x2x2xf32>, tensor<f32>, tensor<ui8>) -> tensor<1x2x2xui8>
  %3 = graph.quantize_linear %1#1, %t, %z : (tensor<1x2x2xf32>, tensor<f32>, tensor<ui8>) -> tensor<1x2x2xui8>
  return %2, %3 : tensor<1x2x2xui8>, tensor<1x2x2xui8>
}

// -----

// Padding by a value that a byte has, and the nearest elements, are computed on integers. A value between two bytes is not.
func.func @padded(%x: tensor<1x2x2x2xui8>) -> (tensor<1x2x6x6xui8>, tensor<1x2x3x3xf32>) {
  %s = graph.constant dense<0.5> : tensor<f32>
  %z = graph.constant dense<3> : tensor<ui8>
  %p = graph.constant dense<[0, 0, 0, 0, 0, 0, 1, 1]> : tensor<8xi64>
  %v = graph.constant dense<2.5> : tensor<f32>
  %u = graph.constant dense<0.3> : tensor<f32>
  %n = graph.constant dense<[1, 2, 6, 6]> : tensor<4xi64>
  %0 = graph.dequantize_linear %x, %s, %z : (tensor<1x2x2x2xui8>, tensor<f32>, tensor<ui8>) -> tensor<1x2x2x2xf32>
  %1 = graph.pad %0, %p value %v : (tensor<1x2x2x2xf32>, tensor<8xi64>, tensor<f32>) -> tensor<1x2x3x3xf32>
  %2 = graph.resize %1 sizes %n {mode = "nearest"} : (tensor<1x2x3x3xf32>, tensor<4xi64>) -> tensor<1x2x6x6xf32>
  %3 = graph.quantize_linear %2, %s, %z : (tensor<1x2x6x6xf32>, tensor<f32>, tensor<ui8>) -> tensor<1x2x6x6xui8>
  %4 = graph.pad %0, %p value %u : (tensor<1x2x2x2xf32>, tensor<8xi64>, tensor<f32>) -> tensor<1x2x3x3xf32>
  return %3, %4 : tensor<1x2x6x6xui8>, tensor<1x2x3x3xf32>
}
