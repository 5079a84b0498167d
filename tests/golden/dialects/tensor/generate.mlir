// RUN: gradus opt %s

func.func @table() -> tensor<3x4xindex> {
  %generated = tensor.generate  {
  ^bb0(%i: index, %j: index):
    %0 = arith.muli %i, %j : index
    tensor.yield %0 : index
  } : tensor<3x4xindex>
  return %generated : tensor<3x4xindex>
}
func.func @sized(%a: tensor<?x2xi8>) -> tensor<2x?xi8> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %a, %c0 : tensor<?x2xi8>
  %generated = tensor.generate %n {
  ^bb0(%i: index, %j: index):
    %extracted = tensor.extract %a[%j, %i] : tensor<?x2xi8>
    tensor.yield %extracted : i8
  } {note} : tensor<2x?xi8>
  return %generated : tensor<2x?xi8>
}
// One poison element makes the tensor poison: the shift amount may be too large.
func.func @poison(%s: i8) -> tensor<4x4xi8> {
  %generated = tensor.generate  {
  ^bb0(%i: index, %j: index):
    %0 = arith.index_cast %i : index to i8
    %1 = arith.shli %0, %s : i8
    tensor.yield %1 {note} : i8
  } : tensor<4x4xi8>
  return %generated : tensor<4x4xi8>
}
func.func @none(%s: f32) -> (tensor<0x4xf32>, tensor<f32>) {
  %generated = tensor.generate  {
  ^bb0(%i: index, %j: index):
    tensor.yield %s : f32
  } : tensor<0x4xf32>
  %0 = tensor.generate  {
    tensor.yield %s : f32
  } : tensor<f32>
  return %generated, %0 : tensor<0x4xf32>, tensor<f32>
}
// A negative extent is UB.
func.func @some_size(%n: index) -> tensor<?xindex> {
  %c-9 = arith.constant -9 : index
  %c7 = arith.constant 7 : index
  %0 = arith.maxsi %n, %c-9 : index
  %1 = arith.minsi %0, %c7 : index
  %generated = tensor.generate %1 {
  ^bb0(%i: index):
    tensor.yield %i : index
  } : tensor<?xindex>
  return %generated : tensor<?xindex>
}
