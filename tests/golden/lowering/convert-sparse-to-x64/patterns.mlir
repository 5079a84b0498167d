// RUN: gradus opt %s --convert-sparse-to-x64="isa=avx512 bits=4"

// The row 1 0 0 2 has the pattern 1001, which is 9; the second row has none. Nonzeros are packed in the order of their use.
func.func @main(%b: tensor<4x16xf32>) -> tensor<2x16xf32> {
  %a = arith.constant dense<[[1.0, 0.0, 0.0, 2.0], [0.0, 0.0, 0.0, 0.0]]> : tensor<2x4xf32>
  %c = sparse.matmul patterns %a, %b : (tensor<2x4xf32>, tensor<4x16xf32>) -> tensor<2x16xf32>
  return %c : tensor<2x16xf32>
}
