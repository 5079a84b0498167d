// RUN: gradus opt %s --fold-packs --canonicalize

// Blocks of two channels are written one behind the other.
func.func @blocked(%a: tensor<4x2xf32>) -> tensor<1x2x2x2x2xf32> {
  %base = arith.constant dense<[0, 2, 4, 6]> : tensor<4xi32>
  %relative = arith.constant dense<[0, 1]> : tensor<2xi32>
  %b = arith.constant dense<[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0], [7.0, 8.0]]> : tensor<4x2xf32>
  %image = graph.constant dense<[1, 2, 2, 4]> : tensor<4xi64>
  %0 = addr.gemm %a[%base + %relative], %b {low = 0.0 : f32} : (tensor<4x2xf32>, tensor<4xi32>, tensor<2xi32>, tensor<4x2xf32>) -> tensor<4x4xf32>
  %1 = graph.reshape %0, %image : (tensor<4x4xf32>, tensor<4xi64>) -> tensor<1x2x2x4xf32>
  %2 = layout.unpack %1 from <"NHWC"> : tensor<1x2x2x4xf32> -> tensor<1x4x2x2xf32>
  %3 = layout.pack %2 into <"NCHW2c"> : tensor<1x4x2x2xf32> -> tensor<1x2x2x2x2xf32>
  return %3 : tensor<1x2x2x2x2xf32>
}
// Channels first are blocks of one. The batch is the innermost axis of the rows.
func.func @channels_first(%a: tensor<4x2xi8>) -> tensor<4x2x2xi32> {
  %bases = arith.constant dense<[[0], [2], [4], [-1]]> : tensor<4x1xi32>
  %b = arith.constant dense<[[1, 2], [3, 4], [5, 6], [7, 8]]> : tensor<4x2xi8>
  %image = graph.constant dense<[2, 2, 4]> : tensor<3xi64>
  %0 = addr.indirect_gemm %a[%bases] run 2, %b : (tensor<4x2xi8>, tensor<4x1xi32>, tensor<4x2xi8>) -> tensor<4x4xi32>
  %1 = graph.reshape %0, %image : (tensor<4x4xi32>, tensor<3xi64>) -> tensor<2x2x4xi32>
  %2 = layout.unpack %1 from <"WNC"> {axes = "CWN"} : tensor<2x2x4xi32> -> tensor<4x2x2xi32>
  return %2 : tensor<4x2x2xi32>
}
// Not folded: two images in a batch, rows that are a result too, and a residual.
func.func @batch(%a: tensor<4x2xf32>) -> tensor<2x4x1x2xf32> {
  %base = arith.constant dense<[0, 2, 4, 6]> : tensor<4xi32>
  %relative = arith.constant dense<[0, 1]> : tensor<2xi32>
  %b = arith.constant dense<[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0], [7.0, 8.0]]> : tensor<4x2xf32>
  %image = graph.constant dense<[2, 1, 2, 4]> : tensor<4xi64>
  %0 = addr.gemm %a[%base + %relative], %b : (tensor<4x2xf32>, tensor<4xi32>, tensor<2xi32>, tensor<4x2xf32>) -> tensor<4x4xf32>
  %1 = graph.reshape %0, %image : (tensor<4x4xf32>, tensor<4xi64>) -> tensor<2x1x2x4xf32>
  %2 = layout.unpack %1 from <"NHWC"> : tensor<2x1x2x4xf32> -> tensor<2x4x1x2xf32>
  return %2 : tensor<2x4x1x2xf32>
}
func.func @used(%a: tensor<4x2xf32>) -> (tensor<4x4xf32>, tensor<1x4x2x2xf32>) {
  %base = arith.constant dense<[0, 2, 4, 6]> : tensor<4xi32>
  %relative = arith.constant dense<[0, 1]> : tensor<2xi32>
  %b = arith.constant dense<[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0], [7.0, 8.0]]> : tensor<4x2xf32>
  %image = graph.constant dense<[1, 2, 2, 4]> : tensor<4xi64>
  %0 = addr.gemm %a[%base + %relative], %b : (tensor<4x2xf32>, tensor<4xi32>, tensor<2xi32>, tensor<4x2xf32>) -> tensor<4x4xf32>
  %1 = graph.reshape %0, %image : (tensor<4x4xf32>, tensor<4xi64>) -> tensor<1x2x2x4xf32>
  %2 = layout.unpack %1 from <"NHWC"> : tensor<1x2x2x4xf32> -> tensor<1x4x2x2xf32>
  return %0, %2 : tensor<4x4xf32>, tensor<1x4x2x2xf32>
}
func.func @residual(%a: tensor<4x2xf32>, %r: tensor<4x4xf32>) -> tensor<1x4x2x2xf32> {
  %base = arith.constant dense<[0, 2, 4, 6]> : tensor<4xi32>
  %relative = arith.constant dense<[0, 1]> : tensor<2xi32>
  %b = arith.constant dense<[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0], [7.0, 8.0]]> : tensor<4x2xf32>
  %image = graph.constant dense<[1, 2, 2, 4]> : tensor<4xi64>
  %0 = addr.gemm %a[%base + %relative], %b plus %r : (tensor<4x2xf32>, tensor<4xi32>, tensor<2xi32>, tensor<4x2xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = graph.reshape %0, %image : (tensor<4x4xf32>, tensor<4xi64>) -> tensor<1x2x2x4xf32>
  %2 = layout.unpack %1 from <"NHWC"> : tensor<1x2x2x4xf32> -> tensor<1x4x2x2xf32>
  return %2 : tensor<1x4x2x2xf32>
}
