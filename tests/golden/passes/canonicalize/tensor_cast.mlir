// RUN: gradus opt %s --canonicalize

func.func @same_type(%a: tensor<?xf32>, %b: tensor<2xi8>) -> (tensor<?xf32>, tensor<2xi8>) {
  %0 = tensor.cast %a : tensor<?xf32> to tensor<?xf32>
  %1 = tensor.bitcast %b : tensor<2xi8> to tensor<2xi8>
  return %0, %1 : tensor<?xf32>, tensor<2xi8>
}
func.func @chain(%a: tensor<4x?xf32>) -> (tensor<?x3xf32>, tensor<4x?xf32>) {
  %0 = tensor.cast %a : tensor<4x?xf32> to tensor<?x?xf32>
  %1 = tensor.cast %0 : tensor<?x?xf32> to tensor<?x3xf32>
  %2 = tensor.cast %0 : tensor<?x?xf32> to tensor<4x?xf32>
  return %1, %2 : tensor<?x3xf32>, tensor<4x?xf32>
}
func.func @unranked(%a: tensor<4xf32>) -> tensor<?xf32> {
  %0 = tensor.cast %a : tensor<4xf32> to tensor<*xf32>
  %1 = tensor.cast %0 : tensor<*xf32> to tensor<?xf32>
  return %1 : tensor<?xf32>
}
// The inner cast checks an extent that the outer ones do not, so it stays.
func.func @knows_more_between(%a: tensor<?xf32>) -> tensor<?xf32> {
  %0 = tensor.cast %a : tensor<?xf32> to tensor<2xf32>
  %1 = tensor.cast %0 : tensor<2xf32> to tensor<?xf32>
  return %1 : tensor<?xf32>
}
// UB, which is kept.
func.func @impossible(%a: tensor<4x8xi32>) -> tensor<8x4xi32> {
  %0 = tensor.cast %a : tensor<4x8xi32> to tensor<?x?xi32>
  %1 = tensor.cast %0 : tensor<?x?xi32> to tensor<8x4xi32>
  return %1 : tensor<8x4xi32>
}
func.func @bitcasts(%a: tensor<2xf32>) -> (tensor<2xui32>, tensor<2xf32>) {
  %0 = tensor.bitcast %a : tensor<2xf32> to tensor<2xi32>
  %1 = tensor.bitcast %0 : tensor<2xi32> to tensor<2xui32>
  %2 = tensor.bitcast %0 : tensor<2xi32> to tensor<2xf32>
  return %1, %2 : tensor<2xui32>, tensor<2xf32>
}
func.func @constants() -> (tensor<2xi32>, tensor<2xf32>) {
  %0 = arith.constant dense<[0x7F800000, 1.0]> : tensor<2xf32>
  %1 = tensor.cast %0 : tensor<2xf32> to tensor<?xf32>
  %2 = tensor.cast %1 : tensor<?xf32> to tensor<2xf32>
  %3 = tensor.bitcast %0 : tensor<2xf32> to tensor<2xi32>
  return %3, %2 : tensor<2xi32>, tensor<2xf32>
}
func.func @of_slice(%a: tensor<8x16xf32>, %n: index) -> (tensor<2xf32>, tensor<?x4xf32>) {
  %c1 = arith.constant 1 : index
  %k = arith.andi %n, %c1 : index
  %0 = tensor.extract_slice %a[%k, 0] [%n, 1] [1, 1] : tensor<8x16xf32> to tensor<?xf32>
  %1 = tensor.cast %0 : tensor<?xf32> to tensor<2xf32>
  %2 = tensor.extract_slice %a[0, 0] [%k, %n] [1, 1] : tensor<8x16xf32> to tensor<?x?xf32>
  %3 = tensor.cast %2 : tensor<?x?xf32> to tensor<?x4xf32>
  return %1, %3 : tensor<2xf32>, tensor<?x4xf32>
}
// Not folded: the slice would be out of bounds.
func.func @slice_too_large(%a: tensor<8xf32>, %n: index) -> tensor<2xf32> {
  %0 = tensor.extract_slice %a[7] [%n] [1] : tensor<8xf32> to tensor<?xf32>
  %1 = tensor.cast %0 : tensor<?xf32> to tensor<2xf32>
  return %1 : tensor<2xf32>
}
