// RUN: gradus opt %s --fuse-epilogues --canonicalize

// A constant per column becomes the bias, also behind a reshape; a relu and a residual follow it.
func.func @bias(%a: tensor<4x2xf32>, %r: tensor<1x4x3xf32>) -> (tensor<1x4x3xf32>, tensor<4x3xf32>) {
  %base = arith.constant dense<[0, 2, 4, 6]> : tensor<4xi32>
  %relative = arith.constant dense<[0, 1]> : tensor<2xi32>
  %b = arith.constant dense<[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]> : tensor<3x2xf32>
  %shape = graph.constant dense<[1, 4, 3]> : tensor<3xi64>
  %bias = graph.constant dense<[1.0, -2.0, 0.5]> : tensor<3xf32>
  %row = graph.constant dense<[[4.0, 5.0, 6.0]]> : tensor<1x3xf32>
  %0 = addr.gemm %a[%base + %relative], %b : (tensor<4x2xf32>, tensor<4xi32>, tensor<2xi32>, tensor<3x2xf32>) -> tensor<4x3xf32>
  %1 = graph.reshape %0, %shape : (tensor<4x3xf32>, tensor<3xi64>) -> tensor<1x4x3xf32>
  %2 = graph.add %1, %bias : (tensor<1x4x3xf32>, tensor<3xf32>) -> tensor<1x4x3xf32>
  %3 = graph.relu %2 : tensor<1x4x3xf32>
  %4 = graph.add %r, %3 : (tensor<1x4x3xf32>, tensor<1x4x3xf32>) -> tensor<1x4x3xf32>
  %5 = addr.gemm %a[%base + %relative], %b : (tensor<4x2xf32>, tensor<4xi32>, tensor<2xi32>, tensor<3x2xf32>) -> tensor<4x3xf32>
  %6 = graph.add %row, %5 : (tensor<1x3xf32>, tensor<4x3xf32>) -> tensor<4x3xf32>
  return %4, %6 : tensor<1x4x3xf32>, tensor<4x3xf32>
}
// Not a bias: a number per row, a tensor that is not constant, a second one, and one behind a clamp.
func.func @no_bias(%a: tensor<3x2xf32>, %c: tensor<3xf32>) -> (tensor<3x3xf32>, tensor<3x3xf32>, tensor<3x3xf32>, tensor<3x3xf32>) {
  %base = arith.constant dense<[0, 2, 4]> : tensor<3xi32>
  %relative = arith.constant dense<[0, 1]> : tensor<2xi32>
  %b = arith.constant dense<[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]> : tensor<3x2xf32>
  %bias = graph.constant dense<[1.0, -2.0, 0.5]> : tensor<3xf32>
  %column = graph.constant dense<[[4.0], [5.0], [6.0]]> : tensor<3x1xf32>
  %0 = addr.gemm %a[%base + %relative], %b : (tensor<3x2xf32>, tensor<3xi32>, tensor<2xi32>, tensor<3x2xf32>) -> tensor<3x3xf32>
  %1 = graph.add %0, %column : (tensor<3x3xf32>, tensor<3x1xf32>) -> tensor<3x3xf32>
  %2 = addr.gemm %a[%base + %relative], %b : (tensor<3x2xf32>, tensor<3xi32>, tensor<2xi32>, tensor<3x2xf32>) -> tensor<3x3xf32>
  %3 = graph.add %2, %c : (tensor<3x3xf32>, tensor<3xf32>) -> tensor<3x3xf32>
  %4 = addr.gemm %a[%base + %relative], %b bias %bias : (tensor<3x2xf32>, tensor<3xi32>, tensor<2xi32>, tensor<3x2xf32>, tensor<3xf32>) -> tensor<3x3xf32>
  %5 = graph.add %4, %bias : (tensor<3x3xf32>, tensor<3xf32>) -> tensor<3x3xf32>
  %6 = addr.gemm %a[%base + %relative], %b {low = 0.0 : f32} : (tensor<3x2xf32>, tensor<3xi32>, tensor<2xi32>, tensor<3x2xf32>) -> tensor<3x3xf32>
  %7 = graph.add %6, %bias : (tensor<3x3xf32>, tensor<3xf32>) -> tensor<3x3xf32>
  return %1, %3, %5, %7 : tensor<3x3xf32>, tensor<3x3xf32>, tensor<3x3xf32>, tensor<3x3xf32>
}
