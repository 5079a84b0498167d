// Attention of two heads: projections, scores with a mask, the mixture of values and the projection of it. The soft maximum is the
// host's; gelu is a product of two functions of one tensor.
func.func @main(%x: tensor<1x20x16xui8>, %mask: tensor<1x1x1x20xui8>) -> (tensor<1x20x16xui8>, tensor<1x20x16xui8>) {
  %s = graph.constant dense<0.0625> : tensor<f32>
  %t = graph.constant dense<0.25> : tensor<f32>
  %p = graph.constant dense<0.00390625> : tensor<f32>
  %z = graph.constant dense<120> : tensor<ui8>
  %n = graph.constant dense<0> : tensor<ui8>
  %w = graph.constant dense<3> : tensor<16x16xi8>
  %v = graph.constant dense<-2> : tensor<16x16xi8>
  %ws = graph.constant dense<0.02> : tensor<f32>
  %wz = graph.constant dense<1> : tensor<i8>
  %b = graph.constant dense<[0, 30, 60, 90, 120, 150, 180, 210, 240, 250, 1, 2, 3, 4, 5, 6]> : tensor<16xui8>
  %heads = graph.constant dense<[1, 20, 2, 8]> : tensor<4xi64>
  %rows = graph.constant dense<[1, 20, 16]> : tensor<3xi64>
  %0 = graph.qlinear_matmul %x, %s, %z, %w, %ws, %wz, %s, %z : (tensor<1x20x16xui8>, tensor<f32>, tensor<ui8>, tensor<16x16xi8>, tensor<f32>, tensor<i8>, tensor<f32>, tensor<ui8>) -> tensor<1x20x16xui8>
  %1 = graph.qlinear_add %0, %s, %z, %b, %s, %z, %s, %z : (tensor<1x20x16xui8>, tensor<f32>, tensor<ui8>, tensor<16xui8>, tensor<f32>, tensor<ui8>, tensor<f32>, tensor<ui8>) -> tensor<1x20x16xui8>
  %2 = graph.qlinear_matmul %x, %s, %z, %v, %ws, %wz, %s, %z : (tensor<1x20x16xui8>, tensor<f32>, tensor<ui8>, tensor<16x16xi8>, tensor<f32>, tensor<i8>, tensor<f32>, tensor<ui8>) -> tensor<1x20x16xui8>
  %q = graph.reshape %1, %heads : (tensor<1x20x16xui8>, tensor<4xi64>) -> tensor<1x20x2x8xui8>
  %k = graph.reshape %2, %heads : (tensor<1x20x16xui8>, tensor<4xi64>) -> tensor<1x20x2x8xui8>
  %qt = graph.transpose %q {perm = array<i64: 0, 2, 1, 3>} : (tensor<1x20x2x8xui8>) -> tensor<1x2x20x8xui8>
  %vt = graph.transpose %k {perm = array<i64: 0, 2, 1, 3>} : (tensor<1x20x2x8xui8>) -> tensor<1x2x20x8xui8>
  %kt = graph.transpose %k {perm = array<i64: 0, 2, 3, 1>} : (tensor<1x20x2x8xui8>) -> tensor<1x2x8x20xui8>
  %3 = graph.qlinear_matmul %qt, %s, %z, %kt, %s, %z, %t, %z : (tensor<1x2x20x8xui8>, tensor<f32>, tensor<ui8>, tensor<1x2x8x20xui8>, tensor<f32>, tensor<ui8>, tensor<f32>, tensor<ui8>) -> tensor<1x2x20x20xui8>
  %4 = graph.qlinear_add %3, %t, %z, %mask, %t, %z, %t, %z : (tensor<1x2x20x20xui8>, tensor<f32>, tensor<ui8>, tensor<1x1x1x20xui8>, tensor<f32>, tensor<ui8>, tensor<f32>, tensor<ui8>) -> tensor<1x2x20x20xui8>
  %5 = graph.dequantize_linear %4, %t, %z : (tensor<1x2x20x20xui8>, tensor<f32>, tensor<ui8>) -> tensor<1x2x20x20xf32>
  %6 = graph.softmax %5 : tensor<1x2x20x20xf32>
  %7 = graph.quantize_linear %6, %p, %n : (tensor<1x2x20x20xf32>, tensor<f32>, tensor<ui8>) -> tensor<1x2x20x20xui8>
  %8 = graph.qlinear_matmul %7, %p, %n, %vt, %s, %z, %s, %z : (tensor<1x2x20x20xui8>, tensor<f32>, tensor<ui8>, tensor<1x2x20x8xui8>, tensor<f32>, tensor<ui8>, tensor<f32>, tensor<ui8>) -> tensor<1x2x20x8xui8>
  %9 = graph.transpose %8 {perm = array<i64: 0, 2, 1, 3>} : (tensor<1x2x20x8xui8>) -> tensor<1x20x2x8xui8>
  %10 = graph.reshape %9, %rows : (tensor<1x20x2x8xui8>, tensor<3xi64>) -> tensor<1x20x16xui8>
  %11 = graph.qlinear_matmul %10, %s, %z, %w, %ws, %wz, %s, %z : (tensor<1x20x16xui8>, tensor<f32>, tensor<ui8>, tensor<16x16xi8>, tensor<f32>, tensor<i8>, tensor<f32>, tensor<ui8>) -> tensor<1x20x16xui8>
  %12 = graph.qlinear_add %x, %s, %z, %11, %s, %z, %s, %z : (tensor<1x20x16xui8>, tensor<f32>, tensor<ui8>, tensor<1x20x16xui8>, tensor<f32>, tensor<ui8>, tensor<f32>, tensor<ui8>) -> tensor<1x20x16xui8>
  %13 = graph.qlinear_mul %12, %s, %z, %12, %s, %z, %t, %z : (tensor<1x20x16xui8>, tensor<f32>, tensor<ui8>, tensor<1x20x16xui8>, tensor<f32>, tensor<ui8>, tensor<f32>, tensor<ui8>) -> tensor<1x20x16xui8>
  return %12, %13 : tensor<1x20x16xui8>, tensor<1x20x16xui8>
}
