// RUN: gradus opt %s

func.func @collapse(%a: tensor<2x3x4xi8>, %b: tensor<1x1xf32>, %c: tensor<?x4x2xf32>) -> (tensor<6x4xi8>, tensor<24xi8>, tensor<f32>, tensor<?x2xf32>) {
  %collapsed = tensor.collapse_shape %a [[0, 1], [2]] : tensor<2x3x4xi8> into tensor<6x4xi8>
  %0 = tensor.collapse_shape %a [[0, 1, 2]] {note} : tensor<2x3x4xi8> into tensor<24xi8>
  %1 = tensor.collapse_shape %b [] : tensor<1x1xf32> into tensor<f32>
  %2 = tensor.collapse_shape %c [[0, 1], [2]] : tensor<?x4x2xf32> into tensor<?x2xf32>
  return %collapsed, %0, %1, %2 : tensor<6x4xi8>, tensor<24xi8>, tensor<f32>, tensor<?x2xf32>
}
func.func @expand(%a: tensor<6x4xi8>, %b: tensor<f32>, %c: tensor<?x2xf32>) -> (tensor<2x3x4xi8>, tensor<1x1xf32>, tensor<?x1x2xf32>) {
  %c0 = arith.constant 0 : index
  %expanded = tensor.expand_shape %a [[0, 1], [2]] output_shape [2, 3, 4] : tensor<6x4xi8> into tensor<2x3x4xi8>
  %0 = tensor.expand_shape %b [] output_shape [1, 1] {note} : tensor<f32> into tensor<1x1xf32>
  %n = tensor.dim %c, %c0 : tensor<?x2xf32>
  %1 = tensor.expand_shape %c [[0, 1], [2]] output_shape [%n, 1, 2] : tensor<?x2xf32> into tensor<?x1x2xf32>
  return %expanded, %0, %1 : tensor<2x3x4xi8>, tensor<1x1xf32>, tensor<?x1x2xf32>
}
// UB unless the extents of each group multiply to the collapsed extent.
func.func @split(%a: tensor<?xi8>, %n: index) -> tensor<?x2xi8> {
  %expanded = tensor.expand_shape %a [[0, 1]] output_shape [%n, 2] : tensor<?xi8> into tensor<?x2xi8>
  return %expanded : tensor<?x2xi8>
}
