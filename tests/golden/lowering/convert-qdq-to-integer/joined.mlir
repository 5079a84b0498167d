// RUN: gradus opt %s --convert-qdq-to-integer

// A product of two functions of one tensor, as GELU is: %x * (0.5 * (1 + erf %x)), with a quantized step between.
func.func @product(%x: tensor<2x3xi8>) -> tensor<2x3xui8> {
  %s = graph.constant dense<0.03125> : tensor<f32>
  %z = graph.constant dense<-5> : tensor<i8>
  %so = graph.constant dense<0.0625> : tensor<f32>
  %zo = graph.constant dense<7> : tensor<ui8>
  %one = graph.constant dense<1.0> : tensor<f32>
  %half = graph.constant dense<0.5> : tensor<f32>
  %0 = graph.dequantize_linear %x, %s, %z : (tensor<2x3xi8>, tensor<f32>, tensor<i8>) -> tensor<2x3xf32>
  %1 = graph.erf %0 : tensor<2x3xf32>
  %2 = graph.quantize_linear %1, %s, %z : (tensor<2x3xf32>, tensor<f32>, tensor<i8>) -> tensor<2x3xi8>
  %3 = graph.dequantize_linear %2, %s, %z : (tensor<2x3xi8>, tensor<f32>, tensor<i8>) -> tensor<2x3xf32>
  %4 = graph.add %3, %one : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  %5 = graph.mul %4, %half : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  %6 = graph.quantize_linear %5, %s, %z : (tensor<2x3xf32>, tensor<f32>, tensor<i8>) -> tensor<2x3xi8>
  %7 = graph.dequantize_linear %6, %s, %z : (tensor<2x3xi8>, tensor<f32>, tensor<i8>) -> tensor<2x3xf32>
  %8 = graph.mul %0, %7 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %9 = graph.quantize_linear %8, %so, %zo : (tensor<2x3xf32>, tensor<f32>, tensor<ui8>) -> tensor<2x3xui8>
  return %9 : tensor<2x3xui8>
}

// A sum of two tensors stays.
func.func @apart(%x: tensor<2x3xi8>, %y: tensor<2x3xi8>) -> tensor<2x3xi8> {
  %s = graph.constant dense<0.03125> : tensor<f32>
  %z = graph.constant dense<-5> : tensor<i8>
  %0 = "graph.qlinear_add"(%x, %s, %z, %y, %s, %z, %s, %z) : (tensor<2x3xi8>, tensor<f32>, tensor<i8>, tensor<2x3xi8>, tensor<f32>, tensor<i8>, tensor<f32>, tensor<i8>) -> tensor<2x3xi8>
  return %0 : tensor<2x3xi8>
}
