// RUN: gradus opt %s --convert-qdq-to-integer

func.func @sum(%a: tensor<1x2x2x2xui8>, %b: tensor<1x2x1x1xi8>) -> (tensor<1x2x2x2xui8>, tensor<1x2x2x2xi8>) {
  %sa = graph.constant dense<0.5> : tensor<f32>
  %sb = graph.constant dense<[0.75]> : tensor<1xf32>
  %za = graph.constant dense<3> : tensor<ui8>
  %zb = graph.constant dense<[-3]> : tensor<1xi8>
  %0 = graph.dequantize_linear %a, %sa, %za : (tensor<1x2x2x2xui8>, tensor<f32>, tensor<ui8>) -> tensor<1x2x2x2xf32>
  %1 = graph.dequantize_linear %b, %sb, %zb : (tensor<1x2x1x1xi8>, tensor<1xf32>, tensor<1xi8>) -> tensor<1x2x1x1xf32>
  %2 = graph.add %0, %1 : (tensor<1x2x2x2xf32>, tensor<1x2x1x1xf32>) -> tensor<1x2x2x2xf32>
  %3 = graph.relu %2 : tensor<1x2x2x2xf32>
  %4 = graph.quantize_linear %3, %sa, %za : (tensor<1x2x2x2xf32>, tensor<f32>, tensor<ui8>) -> tensor<1x2x2x2xui8>
  %5 = graph.mul %0, %1 : (tensor<1x2x2x2xf32>, tensor<1x2x1x1xf32>) -> tensor<1x2x2x2xf32>
  %6 = graph.quantize_linear %5, %sb, %zb : (tensor<1x2x2x2xf32>, tensor<1xf32>, tensor<1xi8>) -> tensor<1x2x2x2xi8>
  return %4, %6 : tensor<1x2x2x2xui8>, tensor<1x2x2x2xi8>
}
// Only the part with other parameters is requantized.
func.func @concat(%a: tensor<1x1x2xi8>, %b: tensor<1x2x2xui8>) -> tensor<1x3x2xi8> {
  %s = graph.constant dense<0.5> : tensor<f32>
  %za = graph.constant dense<3> : tensor<i8>
  %zb = graph.constant dense<131> : tensor<ui8>
  %0 = graph.dequantize_linear %a, %s, %za : (tensor<1x1x2xi8>, tensor<f32>, tensor<i8>) -> tensor<1x1x2xf32>
  %1 = graph.dequantize_linear %b, %s, %zb : (tensor<1x2x2xui8>, tensor<f32>, tensor<ui8>) -> tensor<1x2x2xf32>
  %2 = graph.concat %0, %1 {axis = 1 : i64} : (tensor<1x1x2xf32>, tensor<1x2x2xf32>) -> tensor<1x3x2xf32>
  %3 = graph.quantize_linear %2, %s, %za : (tensor<1x3x2xf32>, tensor<f32>, tensor<i8>) -> tensor<1x3x2xi8>
  return %3 : tensor<1x3x2xi8>
}
// A function of one tensor is a table: x * sigmoid(x), and one per channel for a normalization.
func.func @function(%x: tensor<1x2x2xi8>) -> (tensor<1x2x2xi8>, tensor<1x2x2xi8>) {
  %s = graph.constant dense<0.0625> : tensor<f32>
  %z = graph.constant dense<3> : tensor<i8>
  %by = graph.constant dense<[[1.0], [-2.0]]> : tensor<2x1xf32>
  %0 = graph.dequantize_linear %x, %s, %z : (tensor<1x2x2xi8>, tensor<f32>, tensor<i8>) -> tensor<1x2x2xf32>
  %1 = graph.sigmoid %0 : tensor<1x2x2xf32>
  %2 = graph.mul %0, %1 : (tensor<1x2x2xf32>, tensor<1x2x2xf32>) -> tensor<1x2x2xf32>
  %3 = graph.quantize_linear %2, %s, %z : (tensor<1x2x2xf32>, tensor<f32>, tensor<i8>) -> tensor<1x2x2xi8>
  %4 = graph.mul %0, %by : (tensor<1x2x2xf32>, tensor<2x1xf32>) -> tensor<1x2x2xf32>
  %5 = graph.quantize_linear %4, %s, %z : (tensor<1x2x2xf32>, tensor<f32>, tensor<i8>) -> tensor<1x2x2xi8>
  return %3, %5 : tensor<1x2x2xi8>, tensor<1x2x2xi8>
}
