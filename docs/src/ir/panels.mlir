func.func @main(%x: tensor<2x2xf32>) -> tensor<2x3xf32> {
  %base = arith.constant dense<[0, 2]> : tensor<2xi32>
  %relative = arith.constant dense<[0, 1]> : tensor<2xi32>
  %w = arith.constant dense<[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]> : tensor<3x2xf32>
  %0 = addr.gemm %x[%base + %relative], %w : (tensor<2x2xf32>, tensor<2xi32>, tensor<2xi32>, tensor<3x2xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}
