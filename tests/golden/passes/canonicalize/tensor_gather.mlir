// RUN: gradus opt %s --canonicalize

func.func @of_splat(%at: tensor<2x3xindex>) -> tensor<2x1x1x1xf32> {
  %0 = arith.constant dense<0.5> : tensor<4x4x4xf32>
  %1 = tensor.gather %0[%at] gather_dims([0, 1, 2]) : (tensor<4x4x4xf32>, tensor<2x3xindex>) -> tensor<2x1x1x1xf32>
  return %1 : tensor<2x1x1x1xf32>
}
func.func @of_constant() -> tensor<2xi8> {
  %0 = arith.constant dense<[1, 2, 3, 4]> : tensor<4xi8>
  %1 = arith.constant dense<[[3], [1]]> : tensor<2x1xindex>
  %2 = tensor.gather %0[%1] gather_dims([0]) : (tensor<4xi8>, tensor<2x1xindex>) -> tensor<2xi8>
  return %2 : tensor<2xi8>
}
