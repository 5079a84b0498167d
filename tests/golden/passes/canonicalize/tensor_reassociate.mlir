// RUN: gradus opt %s --canonicalize

func.func @undone(%a: tensor<12x4xi8>, %b: tensor<3x4x4xi8>, %c: tensor<?x4xi8>) -> (tensor<12x4xi8>, tensor<3x4x4xi8>, tensor<?x4xi8>) {
  %0 = tensor.expand_shape %a [[0, 1], [2]] output_shape [3, 4, 4] : tensor<12x4xi8> into tensor<3x4x4xi8>
  %1 = tensor.collapse_shape %0 [[0, 1], [2]] : tensor<3x4x4xi8> into tensor<12x4xi8>
  %2 = tensor.collapse_shape %b [[0, 1], [2]] : tensor<3x4x4xi8> into tensor<12x4xi8>
  %3 = tensor.expand_shape %2 [[0, 1], [2]] output_shape [3, 4, 4] : tensor<12x4xi8> into tensor<3x4x4xi8>
  %c0 = arith.constant 0 : index
  %n = tensor.dim %c, %c0 : tensor<?x4xi8>
  %4 = tensor.expand_shape %c [[0, 1], [2]] output_shape [%n, 1, 4] : tensor<?x4xi8> into tensor<?x1x4xi8>
  %5 = tensor.collapse_shape %4 [[0, 1], [2]] : tensor<?x1x4xi8> into tensor<?x4xi8>
  return %1, %3, %5 : tensor<12x4xi8>, tensor<3x4x4xi8>, tensor<?x4xi8>
}
func.func @same_type(%a: tensor<2x3xi8>) -> (tensor<2x3xi8>, tensor<2x3xi8>) {
  %0 = tensor.collapse_shape %a [[0], [1]] : tensor<2x3xi8> into tensor<2x3xi8>
  %1 = tensor.expand_shape %a [[0], [1]] output_shape [2, 3] : tensor<2x3xi8> into tensor<2x3xi8>
  return %0, %1 : tensor<2x3xi8>, tensor<2x3xi8>
}
func.func @composed(%a: tensor<2x3x4xi8>, %b: tensor<24xi8>, %c: tensor<1x1x1xi8>) -> (tensor<24xi8>, tensor<2x3x4xi8>, tensor<i8>) {
  %0 = tensor.collapse_shape %a [[0, 1], [2]] : tensor<2x3x4xi8> into tensor<6x4xi8>
  %1 = tensor.collapse_shape %0 [[0, 1]] : tensor<6x4xi8> into tensor<24xi8>
  %2 = tensor.expand_shape %b [[0, 1]] output_shape [6, 4] : tensor<24xi8> into tensor<6x4xi8>
  %3 = tensor.expand_shape %2 [[0, 1], [2]] output_shape [2, 3, 4] : tensor<6x4xi8> into tensor<2x3x4xi8>
  %4 = tensor.collapse_shape %c [[0, 1, 2]] : tensor<1x1x1xi8> into tensor<1xi8>
  %5 = tensor.collapse_shape %4 [] : tensor<1xi8> into tensor<i8>
  return %1, %3, %5 : tensor<24xi8>, tensor<2x3x4xi8>, tensor<i8>
}
func.func @collapse_of_expand(%a: tensor<2x6xi8>, %b: tensor<4x6xi8>, %c: tensor<?x2xi8>) -> (tensor<2x3x2xi8>, tensor<24xi8>, tensor<?x2xi8>) {
  %0 = tensor.expand_shape %a [[0], [1, 2, 3]] output_shape [2, 3, 1, 2] : tensor<2x6xi8> into tensor<2x3x1x2xi8>
  %1 = tensor.collapse_shape %0 [[0], [1, 2], [3]] : tensor<2x3x1x2xi8> into tensor<2x3x2xi8>
  %2 = tensor.expand_shape %b [[0, 1], [2]] output_shape [2, 2, 6] : tensor<4x6xi8> into tensor<2x2x6xi8>
  %3 = tensor.collapse_shape %2 [[0, 1, 2]] : tensor<2x2x6xi8> into tensor<24xi8>
  %c0 = arith.constant 0 : index
  %n = tensor.dim %c, %c0 : tensor<?x2xi8>
  %4 = tensor.expand_shape %c [[0], [1, 2, 3]] output_shape [%n, 2, 1, 1] : tensor<?x2xi8> into tensor<?x2x1x1xi8>
  %5 = tensor.collapse_shape %4 [[0], [1, 2, 3]] : tensor<?x2x1x1xi8> into tensor<?x2xi8>
  return %1, %3, %5 : tensor<2x3x2xi8>, tensor<24xi8>, tensor<?x2xi8>
}
func.func @expand_of_collapse(%a: tensor<2x3x5x7xi8>, %b: tensor<6x35xi8>, %c: tensor<1x1x1xi8>) -> (tensor<6x35xi8>, tensor<2x3x5x7xi8>, tensor<1x1x1x1xi8>) {
  %0 = tensor.collapse_shape %a [[0, 1, 2, 3]] : tensor<2x3x5x7xi8> into tensor<210xi8>
  %1 = tensor.expand_shape %0 [[0, 1]] output_shape [6, 35] : tensor<210xi8> into tensor<6x35xi8>
  %2 = tensor.collapse_shape %b [[0, 1]] : tensor<6x35xi8> into tensor<210xi8>
  %3 = tensor.expand_shape %2 [[0, 1, 2, 3]] output_shape [2, 3, 5, 7] : tensor<210xi8> into tensor<2x3x5x7xi8>
  %4 = tensor.collapse_shape %c [] : tensor<1x1x1xi8> into tensor<i8>
  %5 = tensor.expand_shape %4 [] output_shape [1, 1, 1, 1] : tensor<i8> into tensor<1x1x1x1xi8>
  return %1, %3, %5 : tensor<6x35xi8>, tensor<2x3x5x7xi8>, tensor<1x1x1x1xi8>
}
// Extents that are no products of each other.
func.func @neither(%a: tensor<6x4xi8>) -> tensor<4x6xi8> {
  %0 = tensor.collapse_shape %a [[0, 1]] : tensor<6x4xi8> into tensor<24xi8>
  %1 = tensor.expand_shape %0 [[0, 1]] output_shape [4, 6] : tensor<24xi8> into tensor<4x6xi8>
  return %1 : tensor<4x6xi8>
}
func.func @of_cast(%a: tensor<2x3xi8>, %n: index) -> (tensor<?xi8>, tensor<?x?x?xi8>) {
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %0 = tensor.cast %a : tensor<2x3xi8> to tensor<?x?xi8>
  %1 = tensor.collapse_shape %0 [[0, 1]] : tensor<?x?xi8> into tensor<?xi8>
  %2 = tensor.expand_shape %0 [[0], [1, 2]] output_shape [%n, %c3, %c1] : tensor<?x?xi8> into tensor<?x?x?xi8>
  return %1, %2 : tensor<?xi8>, tensor<?x?x?xi8>
}
func.func @of_scalars(%a: i8, %b: i8, %n: index) -> (tensor<2x1xi8>, tensor<8xi8>, tensor<4x?xi8>) {
  %c1 = arith.constant 1 : index
  %k = arith.andi %n, %c1 : index
  %0 = tensor.from_elements %a, %b : tensor<2xi8>
  %1 = tensor.expand_shape %0 [[0, 1]] output_shape [2, 1] : tensor<2xi8> into tensor<2x1xi8>
  %2 = tensor.splat %a : tensor<2x4xi8>
  %3 = tensor.collapse_shape %2 [[0, 1]] : tensor<2x4xi8> into tensor<8xi8>
  %4 = tensor.splat %a[%k] : tensor<2x2x?xi8>
  %5 = tensor.collapse_shape %4 [[0, 1], [2]] : tensor<2x2x?xi8> into tensor<4x?xi8>
  return %1, %3, %5 : tensor<2x1xi8>, tensor<8xi8>, tensor<4x?xi8>
}
func.func @of_constant() -> (tensor<4xi8>, tensor<2x4x2xf32>, tensor<2x2xi4>) {
  %0 = arith.constant dense<[[1, 2], [3, 4]]> : tensor<2x2xi8>
  %1 = tensor.collapse_shape %0 [[0, 1]] : tensor<2x2xi8> into tensor<4xi8>
  %2 = arith.constant dense<42.0> : tensor<2x8xf32>
  %3 = tensor.expand_shape %2 [[0], [1, 2]] output_shape [2, 4, 2] : tensor<2x8xf32> into tensor<2x4x2xf32>
  %4 = arith.constant dense<[1, 2, 3, -4]> : tensor<4xi4>
  %5 = tensor.expand_shape %4 [[0, 1]] output_shape [2, 2] : tensor<4xi4> into tensor<2x2xi4>
  return %1, %3, %5 : tensor<4xi8>, tensor<2x4x2xf32>, tensor<2x2xi4>
}
