// RUN: gradus opt %s --convert-sparse-to-x64="isa=avx512 code=ops"

// One column, with bias and clamp: rows are in lanes. The first row has two nonzeros in the first window of elements, the second has one there
// and one behind it, the third has none.
func.func @main(%x: tensor<1x34xf32>) -> tensor<1x3xf32> {
  %w = arith.constant sparse<[[0, 0], [3, 0], [16, 1], [33, 1]], [2.0, -1.5, 0.25, 4.0]> : tensor<34x3xf32>
  %bias = arith.constant dense<[0.5, 0.0, -1.0]> : tensor<3xf32>
  %c = sparse.matmul unrolled right %x, %w : (tensor<1x34xf32>, tensor<34x3xf32>) -> tensor<1x3xf32>
  %s = graph.add %c, %bias : (tensor<1x3xf32>, tensor<3xf32>) -> tensor<1x3xf32>
  %y = graph.relu %s : tensor<1x3xf32>
  return %y : tensor<1x3xf32>
}
