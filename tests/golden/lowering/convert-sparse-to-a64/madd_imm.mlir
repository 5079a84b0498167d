// RUN: gradus opt %s --convert-sparse-to-a64="isa=madd-imm shifts=false"

// Two instructions per nonzero.
func.func @main(%b: tensor<4x1xi32>) -> tensor<1x1xi32> {
  %a = arith.constant dense<[[1, 0, 0, 2]]> : tensor<1x4xi32>
  %c = sparse.matmul unrolled %a, %b : (tensor<1x4xi32>, tensor<4x1xi32>) -> tensor<1x1xi32>
  return %c : tensor<1x1xi32>
}
