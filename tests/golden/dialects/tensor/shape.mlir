// RUN: gradus opt %s

func.func @extents(%a: tensor<2x?xf32>) -> (index, index, index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %dim = tensor.dim %a, %c0 : tensor<2x?xf32>
  %0 = tensor.dim %a, %c1 : tensor<2x?xf32>
  %rank = tensor.rank %a : tensor<2x?xf32>
  return %dim, %0, %rank : index, index, index
}
func.func @any_extent(%a: tensor<2x?xf32>, %i: index) -> index {
  %dim = tensor.dim {note} %a, %i : tensor<2x?xf32>
  return %dim : index
}
func.func @unranked(%a: tensor<2x3xf32>) -> (index, index) {
  %0 = tensor.cast %a : tensor<2x3xf32> to tensor<*xf32>
  %c1 = arith.constant 1 : index
  %dim = tensor.dim %0, %c1 : tensor<*xf32>
  %rank = tensor.rank %0 {note} : tensor<*xf32>
  return %dim, %rank : index, index
}
func.func @reshape(%a: tensor<2x6xf32>, %b: tensor<?xi8>) -> (tensor<3x4xf32>, tensor<?x?xi8>) {
  %shape = arith.constant dense<[3, 4]> : tensor<2xi32>
  %reshape = tensor.reshape %a(%shape) : (tensor<2x6xf32>, tensor<2xi32>) -> tensor<3x4xf32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = tensor.dim %b, %c0 : tensor<?xi8>
  %row = tensor.from_elements %c1, %n : tensor<2xindex>
  %0 = tensor.reshape %b(%row) {note} : (tensor<?xi8>, tensor<2xindex>) -> tensor<?x?xi8>
  return %reshape, %0 : tensor<3x4xf32>, tensor<?x?xi8>
}
func.func @unknown_shape(%a: tensor<*xf32>, %shape: tensor<?xi32>) -> tensor<*xf32> {
  %reshape = tensor.reshape %a(%shape) : (tensor<*xf32>, tensor<?xi32>) -> tensor<*xf32>
  return %reshape : tensor<*xf32>
}
