// A fully connected operator of twelve rows: a pointwise convolution of twelve columns.
func.func @main(%x: tensor<12x16xf32>) -> tensor<12x8xf32> {
  %w = graph.constant dense<0.5> : tensor<16x8xf32>
  %b = graph.constant dense<0.25> : tensor<8xf32>
  %0 = graph.matmul %x, %w : (tensor<12x16xf32>, tensor<16x8xf32>) -> tensor<12x8xf32>
  %1 = graph.add %0, %b : (tensor<12x8xf32>, tensor<8xf32>) -> tensor<12x8xf32>
  %2 = graph.relu %1 : tensor<12x8xf32>
  return %2 : tensor<12x8xf32>
}
