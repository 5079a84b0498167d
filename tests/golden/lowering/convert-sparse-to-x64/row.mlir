// RUN: gradus opt %s --convert-sparse-to-x64="isa=avx512 code=ops"

// The row of the source: c00 = 1 * b00 + 2 * b30, and a tail of columns under a mask.
func.func @main(%b: tensor<4x20xf32>) -> tensor<1x20xf32> {
  %a = arith.constant dense<[[1.0, 0.0, 0.0, 2.0]]> : tensor<1x4xf32>
  %c = sparse.matmul unrolled %a, %b : (tensor<1x4xf32>, tensor<4x20xf32>) -> tensor<1x20xf32>
  return %c : tensor<1x20xf32>
}
