// RUN: gradus opt %s --pack-panels=width=3

// Five columns in panels of three: the last column of the second panel is padding.
func.func @five_columns(%a: tensor<1x2x2x2xf32>) -> tensor<4x5xf32> {
  %base = arith.constant dense<[0, 2, 4, 6]> : tensor<4xi32>
  %relative = arith.constant dense<[0, 1]> : tensor<2xi32>
  %b = arith.constant dense<[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0], [7.0, 8.0], [9.0, 10.0]]> : tensor<5x2xf32>
  %0 = addr.gemm %a[%base + %relative], %b {low = 0.0 : f32} : (tensor<1x2x2x2xf32>, tensor<4xi32>, tensor<2xi32>, tensor<5x2xf32>) -> tensor<4x5xf32>
  return %0 : tensor<4x5xf32>
}

// Not packed: a right operand that is not constant, and a splat.
func.func @not_constant(%a: tensor<1x2x2x2xf32>, %b: tensor<4x2xf32>) -> tensor<2x4xf32> {
  %bases = arith.constant dense<[[0], [-1]]> : tensor<2x1xi32>
  %0 = addr.indirect_gemm %a[%bases] run 2, %b : (tensor<1x2x2x2xf32>, tensor<2x1xi32>, tensor<4x2xf32>) -> tensor<2x4xf32>
  %ones = arith.constant dense<1.0> : tensor<4x2xf32>
  %1 = addr.indirect_gemm %a[%bases] run 2, %ones plus %0 : (tensor<1x2x2x2xf32>, tensor<2x1xi32>, tensor<4x2xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  return %1 : tensor<2x4xf32>
}

// Of two operands that are the same constant, only the right one is packed.
func.func @both_factors() -> tensor<2x2xf32> {
  %bases = arith.constant dense<[[0], [2]]> : tensor<2x1xi32>
  %b = arith.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %0 = addr.indirect_gemm %b[%bases] run 2, %b : (tensor<2x2xf32>, tensor<2x1xi32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  return %0 : tensor<2x2xf32>
}
