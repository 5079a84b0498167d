// RUN: gradus opt %s --convert-sparse-to-a64="isa=ldr-sc-acc"

// One instruction per nonzero whose value fits 8 bits.
func.func @main(%b: tensor<4x1xi32>) -> tensor<1x1xi32> {
  %a = arith.constant dense<[[1, 0, 1000, 2]]> : tensor<1x4xi32>
  %c = sparse.matmul unrolled %a, %b : (tensor<1x4xi32>, tensor<4x1xi32>) -> tensor<1x1xi32>
  return %c : tensor<1x1xi32>
}
