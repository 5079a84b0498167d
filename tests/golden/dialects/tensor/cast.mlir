// RUN: gradus opt %s

func.func @cast(%a: tensor<4x?xf32>, %b: tensor<2x3xi32>) -> (tensor<?x?xf32>, tensor<?x3xi32>, tensor<2x3xi32>) {
  %cast = tensor.cast %a : tensor<4x?xf32> to tensor<?x?xf32>
  %0 = tensor.cast %b {note} : tensor<2x3xi32> to tensor<?x3xi32>
  %1 = tensor.cast %0 : tensor<?x3xi32> to tensor<2x3xi32>
  return %cast, %0, %1 : tensor<?x?xf32>, tensor<?x3xi32>, tensor<2x3xi32>
}
// UB unless the argument has three columns.
func.func @knows_more(%a: tensor<?x?xf32>) -> tensor<?x3xf32> {
  %0 = tensor.cast %a : tensor<?x?xf32> to tensor<?x3xf32>
  return %0 : tensor<?x3xf32>
}
func.func @unranked(%a: tensor<2xf32>) -> tensor<2xf32> {
  %0 = tensor.cast %a : tensor<2xf32> to tensor<*xf32>
  %1 = tensor.cast %0 : tensor<*xf32> to tensor<2xf32>
  return %1 : tensor<2xf32>
}
func.func @encoding(%a: tensor<2xf32, "here">) -> tensor<2xf32> {
  %0 = tensor.cast %a : tensor<2xf32, "here"> to tensor<2xf32>
  return %0 : tensor<2xf32>
}
func.func @bitcast(%a: tensor<2xf32>, %b: tensor<?xui8>) -> (tensor<2xi32>, tensor<?xi8>) {
  %0 = tensor.bitcast %a : tensor<2xf32> to tensor<2xi32>
  %1 = tensor.bitcast %b {note} : tensor<?xui8> to tensor<?xi8>
  return %0, %1 : tensor<2xi32>, tensor<?xi8>
}
