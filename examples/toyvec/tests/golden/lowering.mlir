// RUN: toyvec opt %s --convert-graph-to-toyvec
func.func @vectors(%x: tensor<16xf32>, %y: tensor<16xf32>) -> tensor<16xf32> {
  %0 = graph.mul %x, %y : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
  %1 = graph.add %0, %y : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
  return %1 : tensor<16xf32>
}

// Broadcasting stays.
func.func @broadcast(%x: tensor<16xf32>, %y: tensor<1xf32>) -> tensor<16xf32> {
  %0 = graph.mul %x, %y : (tensor<16xf32>, tensor<1xf32>) -> tensor<16xf32>
  return %0 : tensor<16xf32>
}
