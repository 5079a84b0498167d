// RUN: gradus opt %s

func.func @extract(%a: tensor<2x3xf32>, %b: tensor<i1>, %c: tensor<2xui8>) -> (f32, i1, ui8) {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %extracted = tensor.extract %a[%c1, %c2] : tensor<2x3xf32>
  %0 = tensor.extract %b[] {note} : tensor<i1>
  %1 = tensor.extract %c[%c1] : tensor<2xui8>
  return %extracted, %0, %1 : f32, i1, ui8
}
func.func @insert(%a: tensor<2x3xf32>, %b: tensor<i1>, %c: tensor<?xi64>, %s: f32, %t: i1, %u: i64) -> (tensor<2x3xf32>, tensor<i1>, tensor<?xi64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %inserted = tensor.insert %s into %a[%c1, %c0] : tensor<2x3xf32>
  %0 = tensor.insert %t into %b[] {note} : tensor<i1>
  %1 = tensor.insert %u into %c[%c0] : tensor<?xi64>
  return %inserted, %0, %1 : tensor<2x3xf32>, tensor<i1>, tensor<?xi64>
}
// Indices out of bounds are UB.
func.func @anywhere(%a: tensor<4x4xi8>, %s: i8, %i: index, %j: index) -> (i8, tensor<4x4xi8>) {
  %c3 = arith.constant 3 : index
  %k = arith.andi %i, %c3 : index
  %inserted = tensor.insert %s into %a[%k, %j] : tensor<4x4xi8>
  %extracted = tensor.extract %inserted[%j, %k] : tensor<4x4xi8>
  return %extracted, %inserted : i8, tensor<4x4xi8>
}
func.func @types_without_numbers(%a: tensor<2xcomplex<f32>>, %b: tensor<2xvector<4xf32>>, %i: index) -> vector<4xf32> {
  %extracted = tensor.extract %a[%i] : tensor<2xcomplex<f32>>
  %0 = tensor.extract %b[%i] : tensor<2xvector<4xf32>>
  return %0 : vector<4xf32>
}
