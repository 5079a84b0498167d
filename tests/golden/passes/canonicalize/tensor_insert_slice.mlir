// RUN: gradus opt %s --canonicalize

func.func @whole(%a: tensor<4x6xi8>, %b: tensor<4x6xi8>, %c: tensor<?x6xi8>, %d: tensor<?x6xi8>) -> (tensor<4x6xi8>, tensor<?x6xi8>) {
  %c0 = arith.constant 0 : index
  %0 = tensor.insert_slice %a into %b[0, %c0] [4, 6] [1, 1] : tensor<4x6xi8> into tensor<4x6xi8>
  %n = tensor.dim %d, %c0 : tensor<?x6xi8>
  %1 = tensor.insert_slice %c into %d[0, 0] [%n, 6] [1, 1] : tensor<?x6xi8> into tensor<?x6xi8>
  return %0, %1 : tensor<4x6xi8>, tensor<?x6xi8>
}
func.func @nothing(%a: tensor<0x6xi8>, %b: tensor<4x6xi8>) -> tensor<4x6xi8> {
  %0 = tensor.insert_slice %a into %b[1, 0] [0, 6] [1, 1] : tensor<0x6xi8> into tensor<4x6xi8>
  return %0 : tensor<4x6xi8>
}
func.func @back(%a: tensor<4x6xi8>, %i: index) -> tensor<4x6xi8> {
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : index
  %k = arith.andi %i, %c3 : index
  %0 = tensor.extract_slice %a[%k, 0] [1, 2] [1, 1] : tensor<4x6xi8> to tensor<2xi8>
  %1 = tensor.insert_slice %0 into %a[%k, %c0] [1, 2] [1, 1] : tensor<2xi8> into tensor<4x6xi8>
  return %1 : tensor<4x6xi8>
}
func.func @over(%a: tensor<4x6xi8>, %b: tensor<2xi8>, %c: tensor<2xi8>, %d: tensor<1x2xi8>) -> (tensor<4x6xi8>, tensor<4x6xi8>) {
  %c1 = arith.constant 1 : index
  %0 = tensor.insert_slice %b into %a[1, 0] [1, 2] [1, 1] : tensor<2xi8> into tensor<4x6xi8>
  %1 = tensor.insert_slice %c into %0[%c1, 0] [1, 2] [1, 1] : tensor<2xi8> into tensor<4x6xi8>
  %2 = tensor.insert_slice %d into %0[1, 0] [1, 2] [1, 1] : tensor<1x2xi8> into tensor<4x6xi8>
  return %1, %2 : tensor<4x6xi8>, tensor<4x6xi8>
}
func.func @constants(%a: tensor<4x6xi8>, %b: tensor<?x?xi8>, %c: tensor<?xi8>) -> (tensor<4x6xi8>, tensor<4x6xi8>) {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %0 = tensor.insert_slice %b into %a[%c1, 0] [%c2, %c3] [1, %c1] : tensor<?x?xi8> into tensor<4x6xi8>
  %1 = tensor.insert_slice %c into %a[%c1, 0] [1, %c3] [1, 1] : tensor<?xi8> into tensor<4x6xi8>
  return %0, %1 : tensor<4x6xi8>, tensor<4x6xi8>
}
func.func @of_cast(%a: tensor<4x6xi8>, %b: tensor<2x3xi8>, %c: tensor<3xi8>, %i: index, %n: index) -> (tensor<4x6xi8>, tensor<?x6xi8>, tensor<4x6xi8>) {
  %c1 = arith.constant 1 : index
  %k = arith.andi %i, %c1 : index
  %0 = tensor.cast %b : tensor<2x3xi8> to tensor<?x3xi8>
  %1 = tensor.insert_slice %0 into %a[%k, 0] [%n, 3] [1, 1] : tensor<?x3xi8> into tensor<4x6xi8>
  %2 = tensor.cast %a : tensor<4x6xi8> to tensor<?x6xi8>
  %3 = tensor.insert_slice %b into %2[%k, 0] [2, 3] [1, 1] : tensor<2x3xi8> into tensor<?x6xi8>
  %4 = tensor.cast %c : tensor<3xi8> to tensor<?xi8>
  %c0 = arith.constant 0 : index
  %5 = tensor.dim %4, %c0 : tensor<?xi8>
  %6 = tensor.insert_slice %4 into %a[%k, 0] [1, %5] [1, 1] : tensor<?xi8> into tensor<4x6xi8>
  return %1, %3, %6 : tensor<4x6xi8>, tensor<?x6xi8>, tensor<4x6xi8>
}
// The cast refines the type of the source, and is kept.
func.func @of_narrowing_cast(%a: tensor<?x?xi8>, %b: tensor<1x?xi8>, %n: index) -> tensor<?x?xi8> {
  %0 = tensor.cast %b : tensor<1x?xi8> to tensor<?x2xi8>
  %1 = tensor.insert_slice %0 into %a[0, 0] [%n, 2] [1, 1] : tensor<?x2xi8> into tensor<?x?xi8>
  return %1 : tensor<?x?xi8>
}
func.func @outside(%a: tensor<4xi8>, %b: tensor<?xi8>) -> tensor<4xi8> {
  %c9 = arith.constant 9 : index
  %c1 = arith.constant 1 : index
  %0 = tensor.insert_slice %b into %a[%c9] [%c1] [1] : tensor<?xi8> into tensor<4xi8>
  return %0 : tensor<4xi8>
}
