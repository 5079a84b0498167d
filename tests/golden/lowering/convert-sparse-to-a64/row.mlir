// RUN: gradus opt %s --split-input-file --convert-sparse-to-a64="shifts=false"

// One element of C, of a row 1 0 0 2: three instructions per nonzero. Rows of B have one element, so that b30 is at 12 bytes.
func.func @scalar(%b: tensor<4x1xi32>) -> tensor<1x1xi32> {
  %a = arith.constant dense<[[1, 0, 0, 2]]> : tensor<1x4xi32>
  %c = sparse.matmul unrolled %a, %b : (tensor<1x4xi32>, tensor<4x1xi32>) -> tensor<1x1xi32>
  return %c : tensor<1x1xi32>
}

// -----

// A row of C, of four elements: six vector instructions.
func.func @vector(%b: tensor<4x4xi32>) -> tensor<1x4xi32> {
  %a = arith.constant dense<[[1, 0, 0, 2]]> : tensor<1x4xi32>
  %c = sparse.matmul unrolled %a, %b : (tensor<1x4xi32>, tensor<4x4xi32>) -> tensor<1x4xi32>
  return %c : tensor<1x4xi32>
}

// -----

// Floats are in a pool, of which a load reads four.
func.func @floats(%b: tensor<4x5xf32>) -> tensor<2x5xf32> {
  %a = arith.constant dense<[[0.5, 0.0, 0.0, -3.0], [0.0, 0.0, 0.0, 0.0]]> : tensor<2x4xf32>
  %c = sparse.matmul unrolled %a, %b : (tensor<2x4xf32>, tensor<4x5xf32>) -> tensor<2x5xf32>
  return %c : tensor<2x5xf32>
}
