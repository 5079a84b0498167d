// RUN: gradus opt %s

func.func @pad(%a: tensor<2x3xi8>, %s: i8) -> tensor<5x4xi8> {
  %padded = tensor.pad %a low[1, 0] high[2, 1] {
  ^bb0(%i: index, %j: index):
    tensor.yield %s : i8
  } : tensor<2x3xi8> to tensor<5x4xi8>
  return %padded : tensor<5x4xi8>
}
// The block arguments are indices of the result.
func.func @computed(%a: tensor<2x3xindex>) -> tensor<4x4xindex> {
  %padded = tensor.pad %a nofold low[1, 1] high[1, 0] {
  ^bb0(%i: index, %j: index):
    %c10 = arith.constant 10 : index
    %0 = arith.muli %i, %c10 : index
    %1 = arith.addi %0, %j : index
    tensor.yield %1 : index
  } {note} : tensor<2x3xindex> to tensor<4x4xindex>
  return %padded : tensor<4x4xindex>
}
func.func @sized(%a: tensor<?x2xf32>, %n: index, %s: f32) -> tensor<?x?xf32> {
  %c3 = arith.constant 3 : index
  %k = arith.andi %n, %c3 : index
  %padded = tensor.pad %a low[%k, 0] high[0, %k] {
  ^bb0(%i: index, %j: index):
    tensor.yield %s : f32
  } : tensor<?x2xf32> to tensor<?x?xf32>
  return %padded : tensor<?x?xf32>
}
// Negative padding removes elements.
func.func @negative(%a: tensor<4x4xi8>, %s: i8) -> tensor<3x5xi8> {
  %padded = tensor.pad %a low[-1, 1] high[0, 0] {
  ^bb0(%i: index, %j: index):
    tensor.yield %s : i8
  } : tensor<4x4xi8> to tensor<3x5xi8>
  return %padded : tensor<3x5xi8>
}
func.func @one_extent(%a: tensor<?xi8>, %n: index, %s: i8) -> tensor<6xi8> {
  %c3 = arith.constant 3 : index
  %k = arith.remsi %n, %c3 : index
  %padded = tensor.pad %a low[%k] high[%k] {
  ^bb0(%i: index):
    tensor.yield %s : i8
  } : tensor<?xi8> to tensor<6xi8>
  return %padded : tensor<6xi8>
}
func.func @scalar(%a: tensor<f32>, %s: f32) -> tensor<f32> {
  %padded = tensor.pad %a low[] high[] {
    tensor.yield %s : f32
  } : tensor<f32> to tensor<f32>
  return %padded : tensor<f32>
}
