// RUN: gradus opt %s --convert-graph-to-addr=min-run=4 --canonicalize

// The scales are merged into one requantization scale per column, and padding reads the zero point.
func.func @conv(%x: tensor<1x4x3x2xui8>) -> tensor<1x2x2x2xi8> {
  %sx = arith.constant dense<0.5> : tensor<f32>
  %zx = graph.constant dense<128> : tensor<ui8>
  %w = arith.constant dense<3> : tensor<2x4x3x1xi8>
  %sw = arith.constant dense<[0.25, 0.5]> : tensor<2xf32>
  %zw = arith.constant dense<[0, 1]> : tensor<2xi8>
  %sy = arith.constant dense<2.0> : tensor<1xf32>
  %zy = arith.constant dense<-5> : tensor<1xi8>
  %b = arith.constant dense<[100, -100]> : tensor<2xi32>
  %y = graph.qlinear_conv %x, %sx, %zx, %w, %sw, %zw, %sy, %zy, %b {pads = array<i64: 1, 0, 1, 0>, strides = array<i64: 2, 1>} : (tensor<1x4x3x2xui8>, tensor<f32>, tensor<ui8>, tensor<2x4x3x1xi8>, tensor<2xf32>, tensor<2xi8>, tensor<1xf32>, tensor<1xi8>, tensor<2xi32>) -> tensor<1x2x2x2xi8>
  return %y : tensor<1x2x2x2xi8>
}
// The copied image is padded with the zero point, which may be a run-time value.
func.func @copied(%x: tensor<1x1x3xi8>, %zero: tensor<1xi8>) -> tensor<1x1x3xi32> {
  %w = arith.constant dense<[[[1, 2, 3]]]> : tensor<1x1x3xi8>
  %y = graph.conv_integer %x, %w x_zero %zero {pads = array<i64: 1, 1>} : (tensor<1x1x3xi8>, tensor<1x1x3xi8>, tensor<1xi8>) -> tensor<1x1x3xi32>
  return %y : tensor<1x1x3xi32>
}
// Depthwise groups become one product; in a column, the weights of all other channels are its zero point.
func.func @groups(%x: tensor<1x2x3xui8>) -> tensor<1x2x2xi32> {
  %w = graph.constant dense<[[[1, 2]], [[3, 4]]]> : tensor<2x1x2xui8>
  %zero = graph.constant dense<[128, 7]> : tensor<2xui8>
  %y = graph.conv_integer %x, %w w_zero %zero {group = 2 : i64} : (tensor<1x2x3xui8>, tensor<2x1x2xui8>, tensor<2xui8>) -> tensor<1x2x2xi32>
  return %y : tensor<1x2x2xi32>
}
func.func @products(%a: tensor<2x1x3xui8>) -> (tensor<2x1x2xi32>, tensor<2x1x2xui8>) {
  %b = arith.constant dense<[[1, 2], [3, 4], [5, 6]]> : tensor<3x2xi8>
  %0 = graph.matmul_integer %a, %b : (tensor<2x1x3xui8>, tensor<3x2xi8>) -> tensor<2x1x2xi32>
  %s = arith.constant dense<0.5> : tensor<f32>
  %za = graph.constant dense<3> : tensor<ui8>
  %zb = arith.constant dense<1> : tensor<i8>
  %1 = graph.qlinear_matmul %a, %s, %za, %b, %s, %zb, %s, %za : (tensor<2x1x3xui8>, tensor<f32>, tensor<ui8>, tensor<3x2xi8>, tensor<f32>, tensor<i8>, tensor<f32>, tensor<ui8>) -> tensor<2x1x2xui8>
  return %0, %1 : tensor<2x1x2xi32>, tensor<2x1x2xui8>
}
// Not lowered: weights that are not constant, and a zero point per row.
func.func @not_lowered(%a: tensor<2x3xui8>, %b: tensor<3x2xui8>) -> (tensor<2x2xi32>, tensor<2x2xi32>) {
  %0 = graph.matmul_integer %a, %b : (tensor<2x3xui8>, tensor<3x2xui8>) -> tensor<2x2xi32>
  %c = arith.constant dense<1> : tensor<3x2xi8>
  %zero = graph.constant dense<[1, 2]> : tensor<2xui8>
  %1 = graph.matmul_integer %a, %c a_zero %zero : (tensor<2x3xui8>, tensor<3x2xi8>, tensor<2xui8>) -> tensor<2x2xi32>
  return %0, %1 : tensor<2x2xi32>, tensor<2x2xi32>
}
