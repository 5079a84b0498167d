// RUN: gradus opt %s --canonicalize

func.func @whole(%a: tensor<4x6xi8>, %b: tensor<?x6xi8>) -> (tensor<4x6xi8>, tensor<?x6xi8>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0 = tensor.extract_slice %a[%c0, 0] [4, 6] [%c1, 1] : tensor<4x6xi8> to tensor<4x6xi8>
  %n = tensor.dim %b, %c0 : tensor<?x6xi8>
  %1 = tensor.extract_slice %b[0, 0] [%n, 6] [1, 1] : tensor<?x6xi8> to tensor<?x6xi8>
  return %0, %1 : tensor<4x6xi8>, tensor<?x6xi8>
}
func.func @constants(%a: tensor<4x6xi8>, %i: index) -> (tensor<?x?xi8>, tensor<?xi8>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %k = arith.andi %i, %c1 : index
  %0 = tensor.extract_slice %a[%c1, %k] [%c2, %c1] [%c2, 1] : tensor<4x6xi8> to tensor<?x?xi8>
  %1 = tensor.extract_slice %a[1, %c1] [1, %c2] [1, %c1] : tensor<4x6xi8> to tensor<?xi8>
  return %0, %1 : tensor<?x?xi8>, tensor<?xi8>
}
// An out-of-bounds slice stays UB.
func.func @outside(%a: tensor<4xi8>) -> (tensor<?xi8>, tensor<?xi8>) {
  %c-5 = arith.constant -5 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %0 = tensor.extract_slice %a[0] [%c-5] [1] : tensor<4xi8> to tensor<?xi8>
  %1 = tensor.extract_slice %a[%c9] [%c1] [1] : tensor<4xi8> to tensor<?xi8>
  return %0, %1 : tensor<?xi8>, tensor<?xi8>
}
func.func @of_cast(%a: tensor<4x6xi8>, %n: index) -> (tensor<?x3xi8>, tensor<2x3xi8>) {
  %c3 = arith.constant 3 : index
  %k = arith.andi %n, %c3 : index
  %0 = tensor.cast %a : tensor<4x6xi8> to tensor<?x?xi8>
  %1 = tensor.extract_slice %0[0, 1] [%k, 3] [1, 1] : tensor<?x?xi8> to tensor<?x3xi8>
  // Outside of the constant: UB.
  %2 = tensor.extract_slice %0[3, 1] [2, 3] [1, 1] : tensor<?x?xi8> to tensor<2x3xi8>
  return %1, %2 : tensor<?x3xi8>, tensor<2x3xi8>
}
func.func @of_constant(%i: index) -> (tensor<3x3xf32>, tensor<2xi8>) {
  %0 = arith.constant dense<2.0> : tensor<9x9xf32>
  %1 = tensor.extract_slice %0[%i, 0] [3, 3] [1, 1] : tensor<9x9xf32> to tensor<3x3xf32>
  %2 = arith.constant dense<[1, 2, 3, 4]> : tensor<4xi8>
  %3 = tensor.extract_slice %2[1] [2] [1] : tensor<4xi8> to tensor<2xi8>
  return %1, %3 : tensor<3x3xf32>, tensor<2xi8>
}
func.func @of_inserted(%a: tensor<4x6xi8>, %b: tensor<2xi8>, %i: index) -> (tensor<2xi8>, tensor<1x2xi8>) {
  %c3 = arith.constant 3 : index
  %c1 = arith.constant 1 : index
  %k = arith.andi %i, %c3 : index
  %0 = tensor.insert_slice %b into %a[%k, %c1] [1, 2] [1, 2] : tensor<2xi8> into tensor<4x6xi8>
  %1 = tensor.extract_slice %0[%k, 1] [1, 2] [1, 2] : tensor<4x6xi8> to tensor<2xi8>
  // A slice of the inserted part with another type.
  %2 = tensor.extract_slice %0[%k, 1] [1, 2] [1, 2] : tensor<4x6xi8> to tensor<1x2xi8>
  return %1, %2 : tensor<2xi8>, tensor<1x2xi8>
}
