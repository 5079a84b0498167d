// RUN: gradus opt %s --convert-sparse-to-a64="bundles=true shifts=false"

// c0 = 1*b0 + 3*b4 + 7*b12: four bundles in place of nine cycles.
func.func @main(%b: tensor<13x1xi32>) -> tensor<1x1xi32> {
  %a = arith.constant dense<[[1, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 7]]> : tensor<1x13xi32>
  %c = sparse.matmul unrolled %a, %b : (tensor<1x13xi32>, tensor<13x1xi32>) -> tensor<1x1xi32>
  return %c : tensor<1x1xi32>
}
