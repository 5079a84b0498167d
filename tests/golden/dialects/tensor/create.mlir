// RUN: gradus opt %s

func.func @splat(%s: f32, %b: i1) -> (tensor<2x3xf32>, tensor<4xi1>, tensor<i1>) {
  %splat = tensor.splat %s : tensor<2x3xf32>
  %0 = tensor.splat %b {note} : tensor<4xi1>
  %1 = tensor.splat %b : tensor<i1>
  return %splat, %0, %1 : tensor<2x3xf32>, tensor<4xi1>, tensor<i1>
}
func.func @sized_splat(%s: i8, %like: tensor<?xf32>) -> tensor<2x?x?xi8> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %like, %c0 : tensor<?xf32>
  %splat = tensor.splat %s[%n, %n] : tensor<2x?x?xi8>
  return %splat : tensor<2x?x?xi8>
}
func.func @splat_of_some_size(%s: i8, %n: index) -> tensor<?xi8> {
  %c-9 = arith.constant -9 : index
  %c7 = arith.constant 7 : index
  %0 = arith.maxsi %n, %c-9 : index
  %1 = arith.minsi %0, %c7 : index
  %splat = tensor.splat %s[%1] : tensor<?xi8>
  return %splat : tensor<?xi8>
}
func.func @from_elements(%a: i16, %b: i16, %c: i1, %d: f16) -> (tensor<2x2xi16>, tensor<0xi16>, tensor<i16>, tensor<2xi1>, tensor<1xf16>) {
  %from_elements = tensor.from_elements %a, %b, %b, %a : tensor<2x2xi16>
  %0 = tensor.from_elements  : tensor<0xi16>
  %1 = tensor.from_elements %a {note} : tensor<i16>
  %2 = tensor.from_elements %c, %c : tensor<2xi1>
  %3 = tensor.from_elements %d : tensor<1xf16>
  return %from_elements, %0, %1, %2, %3 : tensor<2x2xi16>, tensor<0xi16>, tensor<i16>, tensor<2xi1>, tensor<1xf16>
}
// Elements of `tensor.empty` that were not written are poison.
func.func @empty_is_poison(%n: index) -> (tensor<2x3xf32>, tensor<?x4xf32, "here">) {
  %0 = tensor.empty() : tensor<2x3xf32>
  %1 = tensor.empty(%n) {note} : tensor<?x4xf32, "here">
  return %0, %1 : tensor<2x3xf32>, tensor<?x4xf32, "here">
}
