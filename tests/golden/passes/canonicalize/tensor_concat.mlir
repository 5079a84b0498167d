// RUN: gradus opt %s --canonicalize

func.func @single(%a: tensor<2x?xi8>) -> (tensor<2x?xi8>, tensor<2x3xi8>) {
  %0 = tensor.concat dim(1) %a : (tensor<2x?xi8>) -> tensor<2x?xi8>
  %1 = tensor.concat dim(1) %a : (tensor<2x?xi8>) -> tensor<2x3xi8>
  return %0, %1 : tensor<2x?xi8>, tensor<2x3xi8>
}
func.func @known(%a: tensor<?x2xi8>, %b: tensor<3x?xi8>, %c: tensor<?x?xi8>) -> (tensor<?x?xi8>, tensor<?x?xi8>, tensor<?x5xi8>) {
  %0 = tensor.concat dim(0) %a, %b : (tensor<?x2xi8>, tensor<3x?xi8>) -> tensor<?x?xi8>
  %1 = tensor.concat dim(1) %a, %b : (tensor<?x2xi8>, tensor<3x?xi8>) -> tensor<?x?xi8>
  %2 = tensor.concat dim(1) %a, %c : (tensor<?x2xi8>, tensor<?x?xi8>) -> tensor<?x5xi8>
  return %0, %1, %2 : tensor<?x?xi8>, tensor<?x?xi8>, tensor<?x5xi8>
}
func.func @sum(%a: tensor<2x3xi8>, %b: tensor<4x3xi8>) -> tensor<?x?xi8> {
  %0 = tensor.concat dim(0) %a, %b : (tensor<2x3xi8>, tensor<4x3xi8>) -> tensor<?x?xi8>
  return %0 : tensor<?x?xi8>
}
