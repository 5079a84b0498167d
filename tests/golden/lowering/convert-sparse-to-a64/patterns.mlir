// RUN: gradus opt %s --convert-sparse-to-a64="bits=4"

// The row 1 0 0 2 has the pattern 1001, which is 9: one of 16 functions.
func.func @main(%b: tensor<4x4xi32>) -> tensor<1x4xi32> {
  %a = arith.constant dense<[[1, 0, 0, 2]]> : tensor<1x4xi32>
  %c = sparse.matmul patterns %a, %b : (tensor<1x4xi32>, tensor<4x4xi32>) -> tensor<1x4xi32>
  return %c : tensor<1x4xi32>
}
