// RUN: gradus opt %s --canonicalize
// Unit dimensions fit several groups: the earliest group takes the dimensions that it needs.

func.func @through_scalar(%a: tensor<1x1x1xf32>) -> tensor<1x1x1x1xf32> {
  %0 = tensor.collapse_shape %a [] : tensor<1x1x1xf32> into tensor<f32>
  %1 = tensor.expand_shape %0 [] output_shape [1, 1, 1, 1] : tensor<f32> into tensor<1x1x1x1xf32>
  return %1 : tensor<1x1x1x1xf32>
}

func.func @between(%a: tensor<1x2x1x1x3xf32>) -> tensor<2x1x3xf32> {
  %0 = tensor.collapse_shape %a [[0, 1, 2, 3, 4]] : tensor<1x2x1x1x3xf32> into tensor<6xf32>
  %1 = tensor.expand_shape %0 [[0, 1, 2]] output_shape [2, 1, 3] : tensor<6xf32> into tensor<2x1x3xf32>
  return %1 : tensor<2x1x3xf32>
}
