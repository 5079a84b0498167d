// RUN: gradus opt %s --canonicalize --cse

func.func @rows(%x: tensor<2x3xf32>, %y: tensor<3xf32>) -> tensor<2x3xf32> {
  %0 = graph.add %x, %y : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %1 = graph.add %y, %x : (tensor<3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %2 = graph.mul %0, %1 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return %2 : tensor<2x3xf32>
}
func.func @compare(%x: tensor<2x1xi32>, %y: tensor<1x2xi32>) -> tensor<2x2xi1> {
  %0 = graph.less %x, %y : (tensor<2x1xi32>, tensor<1x2xi32>) -> tensor<2x2xi1>
  %1 = graph.not %0 : tensor<2x2xi1>
  return %1 : tensor<2x2xi1>
}
