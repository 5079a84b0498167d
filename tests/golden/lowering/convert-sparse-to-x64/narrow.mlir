// RUN: gradus opt %s --convert-sparse-to-x64="isa=avx2 code=ops"

// Five columns fill no vector of 256 bits: they are two of 128 bits, which overlap in three columns.
func.func @main(%b: tensor<3x5xf32>) -> tensor<2x5xf32> {
  %a = arith.constant dense<[[2.0, 0.0, 1.0], [0.0, -2.0, 3.0]]> : tensor<2x3xf32>
  %c = sparse.matmul unrolled %a, %b : (tensor<2x3xf32>, tensor<3x5xf32>) -> tensor<2x5xf32>
  return %c : tensor<2x5xf32>
}
