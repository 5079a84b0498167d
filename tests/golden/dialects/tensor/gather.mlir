// RUN: gradus opt %s

func.func @gather(%a: tensor<4x5x6xi8>) -> (tensor<2x1x5x1xi8>, tensor<2x5xi8>, tensor<3x4x6xi8>, tensor<2x1x1x1xi8>) {
  %0 = arith.constant dense<[[0, 5], [3, 1]]> : tensor<2x2xindex>
  %1 = arith.constant dense<[[1], [1], [4]]> : tensor<3x1xi32>
  %2 = arith.constant dense<[[0, 1, 2], [3, 4, 5]]> : tensor<2x3xi64>
  %gather = tensor.gather %a[%0] gather_dims([0, 2]) unique : (tensor<4x5x6xi8>, tensor<2x2xindex>) -> tensor<2x1x5x1xi8>
  %3 = tensor.gather %a[%0] gather_dims([0, 2]) : (tensor<4x5x6xi8>, tensor<2x2xindex>) -> tensor<2x5xi8>
  %4 = tensor.gather %a[%1] gather_dims([1]) {note} : (tensor<4x5x6xi8>, tensor<3x1xi32>) -> tensor<3x4x6xi8>
  %5 = tensor.gather %a[%2] gather_dims([0, 1, 2]) : (tensor<4x5x6xi8>, tensor<2x3xi64>) -> tensor<2x1x1x1xi8>
  return %gather, %3, %4, %5 : tensor<2x1x5x1xi8>, tensor<2x5xi8>, tensor<3x4x6xi8>, tensor<2x1x1x1xi8>
}
func.func @scatter(%a: tensor<4x5xi8>, %b: tensor<2x5xi8>, %c: tensor<2x1x1xi8>) -> (tensor<4x5xi8>, tensor<4x5xi8>) {
  %0 = arith.constant dense<[[3], [0]]> : tensor<2x1xindex>
  %1 = arith.constant dense<[[3, 1], [0, 4]]> : tensor<2x2xindex>
  %scatter = tensor.scatter %b into %a[%0] scatter_dims([0]) unique : (tensor<2x5xi8>, tensor<4x5xi8>, tensor<2x1xindex>) -> tensor<4x5xi8>
  %2 = tensor.scatter %c into %a[%1] scatter_dims([0, 1]) unique {note} : (tensor<2x1x1xi8>, tensor<4x5xi8>, tensor<2x2xindex>) -> tensor<4x5xi8>
  return %scatter, %2 : tensor<4x5xi8>, tensor<4x5xi8>
}
// UB if coordinates are out of bounds, or are equal under `unique`.
func.func @anywhere(%a: tensor<4x5xi8>, %at: tensor<?x1xi8>, %b: tensor<?x5xi8>) -> (tensor<?x5xi8>, tensor<4x5xi8>) {
  %c = arith.constant dense<3> : tensor<2x1xi8>
  %gather = tensor.gather %a[%at] gather_dims([0]) : (tensor<4x5xi8>, tensor<?x1xi8>) -> tensor<?x5xi8>
  %scatter = tensor.scatter %gather into %a[%at] scatter_dims([0]) unique : (tensor<?x5xi8>, tensor<4x5xi8>, tensor<?x1xi8>) -> tensor<4x5xi8>
  return %gather, %scatter : tensor<?x5xi8>, tensor<4x5xi8>
}
