// RUN: gradus opt %s

func.func @extract(%a: tensor<4x6xi8>) -> (tensor<2x3xi8>, tensor<3xi8>, tensor<4x1xi8>, tensor<i8>, tensor<0x6xi8>) {
  %extracted_slice = tensor.extract_slice %a[1, 2] [2, 3] [1, 1] : tensor<4x6xi8> to tensor<2x3xi8>
  %0 = tensor.extract_slice %a[3, 0] [1, 3] [1, 2] : tensor<4x6xi8> to tensor<3xi8>
  %1 = tensor.extract_slice %a[0, 5] [4, 1] [1, 1] {note} : tensor<4x6xi8> to tensor<4x1xi8>
  %2 = tensor.extract_slice %a[2, 2] [1, 1] [1, 1] : tensor<4x6xi8> to tensor<i8>
  %3 = tensor.extract_slice %a[0, 0] [0, 6] [1, 1] : tensor<4x6xi8> to tensor<0x6xi8>
  return %extracted_slice, %0, %1, %2, %3 : tensor<2x3xi8>, tensor<3xi8>, tensor<4x1xi8>, tensor<i8>, tensor<0x6xi8>
}
func.func @insert(%a: tensor<4x6xi8>, %b: tensor<2x3xi8>, %c: tensor<3xi8>, %d: tensor<i8>) -> (tensor<4x6xi8>, tensor<4x6xi8>, tensor<4x6xi8>) {
  %inserted_slice = tensor.insert_slice %b into %a[1, 2] [2, 3] [2, 1] : tensor<2x3xi8> into tensor<4x6xi8>
  %0 = tensor.insert_slice %c into %inserted_slice[3, 0] [1, 3] [1, 2] : tensor<3xi8> into tensor<4x6xi8>
  %1 = tensor.insert_slice %d into %a[2, 2] [1, 1] [1, 1] {note} : tensor<i8> into tensor<4x6xi8>
  return %inserted_slice, %0, %1 : tensor<4x6xi8>, tensor<4x6xi8>, tensor<4x6xi8>
}
func.func @rows(%a: tensor<?x6xf32>, %b: tensor<?x?xf32>) -> (tensor<?x6xf32>, tensor<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = tensor.dim %a, %c0 : tensor<?x6xf32>
  %extracted_slice = tensor.extract_slice %a[0, 0] [%n, 6] [%c1, 1] : tensor<?x6xf32> to tensor<?x6xf32>
  %m = tensor.dim %b, %c1 : tensor<?x?xf32>
  %0 = tensor.extract_slice %a[0, 0] [%n, %m] [1, 2] : tensor<?x6xf32> to tensor<?x?xf32>
  %inserted_slice = tensor.insert_slice %0 into %b[%c0, 0] [%n, %m] [1, 1] : tensor<?x?xf32> into tensor<?x?xf32>
  return %extracted_slice, %inserted_slice : tensor<?x6xf32>, tensor<?x?xf32>
}
func.func @anywhere(%a: tensor<4x6xi8>, %i: index, %n: index) -> (tensor<?xi8>, tensor<4x6xi8>) {
  %c3 = arith.constant 3 : index
  %c1 = arith.constant 1 : index
  %k = arith.andi %i, %c3 : index
  %0 = arith.andi %n, %c3 : index
  %size = arith.addi %0, %c1 : index
  %extracted_slice = tensor.extract_slice %a[%k, %k] [%size, 1] [1, 1] : tensor<4x6xi8> to tensor<?xi8>
  %inserted_slice = tensor.insert_slice %extracted_slice into %a[%i, 1] [1, %size] [1, 1] : tensor<?xi8> into tensor<4x6xi8>
  return %extracted_slice, %inserted_slice : tensor<?xi8>, tensor<4x6xi8>
}
// Negative strides.
func.func @negative_stride(%a: tensor<4xi8>) -> (tensor<4xi8>, tensor<4xi8>) {
  %extracted_slice = tensor.extract_slice %a[3] [4] [-1] : tensor<4xi8> to tensor<4xi8>
  %inserted_slice = tensor.insert_slice %extracted_slice into %a[3] [4] [-1] : tensor<4xi8> into tensor<4xi8>
  return %extracted_slice, %inserted_slice : tensor<4xi8>, tensor<4xi8>
}
