// RUN: gradus opt %s --convert-sparse-to-x64="isa=avx2 code=ops"

// One column with 256-bit vectors: a window of seven elements begins where rows have nonzeros. The second window is the last: it ends at the last
// element, and its zero is in the first lane. The last two of ten rows are computed with the six before, again.
func.func @main(%x: tensor<1x20xf32>) -> tensor<1x10xf32> {
  %w = arith.constant sparse<[[1, 0], [7, 9], [16, 1], [19, 9]], [2.0, -1.5, 0.25, 4.0]> : tensor<20x10xf32>
  %c = sparse.matmul unrolled right %x, %w : (tensor<1x20xf32>, tensor<20x10xf32>) -> tensor<1x10xf32>
  %y = graph.relu %c : tensor<1x10xf32>
  return %y : tensor<1x10xf32>
}
