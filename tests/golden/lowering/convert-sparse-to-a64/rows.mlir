// RUN: gradus opt %s --split-input-file --convert-sparse-to-a64="rows=4" --canonicalize

// Rows of a group share the loads of B.
func.func @together(%b: tensor<2x1xi32>) -> tensor<2x1xi32> {
  %a = arith.constant dense<[[3, 5], [6, 7]]> : tensor<2x2xi32>
  %c = sparse.matmul unrolled %a, %b : (tensor<2x2xi32>, tensor<2x1xi32>) -> tensor<2x1xi32>
  return %c : tensor<2x1xi32>
}

// -----

// Offsets beyond 12 bits are computed.
func.func @far(%b: tensor<2x5001xi32>) -> tensor<1x5001xi32> {
  %a = arith.constant dense<[[0, 5]]> : tensor<1x2xi32>
  %c = sparse.matmul unrolled %a, %b : (tensor<1x2xi32>, tensor<2x5001xi32>) -> tensor<1x5001xi32>
  return %c : tensor<1x5001xi32>
}

// -----

// Other forms stay.
func.func @csr(%b: tensor<2x1xi32>) -> tensor<2x1xi32> {
  %a = arith.constant dense<[[3, 5], [6, 7]]> : tensor<2x2xi32>
  %c = sparse.matmul csr %a, %b : (tensor<2x2xi32>, tensor<2x1xi32>) -> tensor<2x1xi32>
  return %c : tensor<2x1xi32>
}
