// RUN: gradus opt %s --convert-sparse-to-x64=isa=avx2

// 256-bit vectors; equal magnitudes share a value of the pool, and 1 and -1 need none.
func.func @left(%b: tensor<3x8xf32>) -> tensor<2x8xf32> {
  %a = arith.constant dense<[[0.0, 0.5, -0.5], [-1.0, 1.0, 0.0]]> : tensor<2x3xf32>
  %c = sparse.matmul unrolled %a, %b : (tensor<2x3xf32>, tensor<3x8xf32>) -> tensor<2x8xf32>
  return %c : tensor<2x8xf32>
}

// The product of the transposes.
func.func @right(%a: tensor<9x2xf32>) -> tensor<9x3xf32> {
  %b = arith.constant dense<[[0.0, 4.0, 0.0], [3.0, 0.0, 0.0]]> : tensor<2x3xf32>
  %c = sparse.matmul unrolled right %a, %b : (tensor<9x2xf32>, tensor<2x3xf32>) -> tensor<9x3xf32>
  return %c : tensor<9x3xf32>
}

// Fewer columns than a vector: no code, but compressed rows.
func.func @narrow(%b: tensor<2x3xf32>) -> tensor<1x3xf32> {
  %a = arith.constant dense<[[0.0, 4.0]]> : tensor<1x2xf32>
  %c = sparse.matmul unrolled %a, %b : (tensor<1x2xf32>, tensor<2x3xf32>) -> tensor<1x3xf32>
  return %c : tensor<1x3xf32>
}
