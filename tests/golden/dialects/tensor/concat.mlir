// RUN: gradus opt %s

func.func @concat(%a: tensor<2x3xi8>, %b: tensor<2x1xi8>, %c: tensor<4x3xi8>) -> (tensor<2x5xi8>, tensor<6x3xi8>, tensor<2x3xi8>) {
  %concat = tensor.concat dim(1) %a, %b, %b : (tensor<2x3xi8>, tensor<2x1xi8>, tensor<2x1xi8>) -> tensor<2x5xi8>
  %0 = tensor.concat dim(0) %a, %c {note} : (tensor<2x3xi8>, tensor<4x3xi8>) -> tensor<6x3xi8>
  %1 = tensor.concat dim(0) %a : (tensor<2x3xi8>) -> tensor<2x3xi8>
  return %concat, %0, %1 : tensor<2x5xi8>, tensor<6x3xi8>, tensor<2x3xi8>
}
func.func @sized(%a: tensor<?x3xf32>, %b: tensor<?x?xf32>) -> (tensor<?x3xf32>, tensor<?x?xf32>) {
  %concat = tensor.concat dim(0) %a, %a : (tensor<?x3xf32>, tensor<?x3xf32>) -> tensor<?x3xf32>
  %0 = tensor.concat dim(1) %a, %b : (tensor<?x3xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
  return %concat, %0 : tensor<?x3xf32>, tensor<?x?xf32>
}
func.func @empty_rows(%a: tensor<2x0xf32>, %b: tensor<0x0xf32>) -> (tensor<2x0xf32>, tensor<0x0xf32>) {
  %concat = tensor.concat dim(1) %a, %a : (tensor<2x0xf32>, tensor<2x0xf32>) -> tensor<2x0xf32>
  %0 = tensor.concat dim(1) %b, %b : (tensor<0x0xf32>, tensor<0x0xf32>) -> tensor<0x0xf32>
  return %concat, %0 : tensor<2x0xf32>, tensor<0x0xf32>
}
