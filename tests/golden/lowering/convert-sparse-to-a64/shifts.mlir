// RUN: gradus opt %s --convert-sparse-to-a64

// Products with powers of two are sums with a shifted register.
func.func @main(%b: tensor<4x1xi32>) -> tensor<1x1xi32> {
  %a = arith.constant dense<[[1, -8, 0, 2]]> : tensor<1x4xi32>
  %c = sparse.matmul unrolled %a, %b : (tensor<1x4xi32>, tensor<4x1xi32>) -> tensor<1x1xi32>
  return %c : tensor<1x1xi32>
}
