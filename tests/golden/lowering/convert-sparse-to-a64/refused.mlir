// RUN: gradus opt %s --convert-sparse-to-a64 --split-input-file --verify-diagnostics

func.func @rows(%b: tensor<4x16xf32>) -> tensor<1x16xf32> {
  %a = arith.constant dense<[[1.0, 0.0, 0.0, 2.0]]> : tensor<1x4xf32>
  // expected-remark@+1 {{'sparse.matmul' stays interpreted: compressed rows}}
  %c = sparse.matmul csr %a, %b : (tensor<1x4xf32>, tensor<4x16xf32>) -> tensor<1x16xf32>
  return %c : tensor<1x16xf32>
}
