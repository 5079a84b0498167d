// RUN: gradus opt %s --canonicalize

func.func @same_shape(%a: tensor<2x3xi8>, %n: index, %s: i8) -> (tensor<2x3xi8>, tensor<2x3xi8>) {
  %0 = tensor.pad %a low[%n, 0] high[0, %n] {
  ^bb0(%i: index, %j: index):
    tensor.yield %s : i8
  } : tensor<2x3xi8> to tensor<2x3xi8>
  %1 = tensor.pad %a nofold low[0, 0] high[0, 0] {
  ^bb0(%i: index, %j: index):
    tensor.yield %s : i8
  } : tensor<2x3xi8> to tensor<2x3xi8>
  return %0, %1 : tensor<2x3xi8>, tensor<2x3xi8>
}
func.func @empty_margins(%a: tensor<?x3xi8>, %s: i8) -> tensor<2x3xi8> {
  %c0 = arith.constant 0 : index
  %0 = tensor.pad %a low[0, %c0] high[0, 0] {
  ^bb0(%i: index, %j: index):
    tensor.yield %s : i8
  } : tensor<?x3xi8> to tensor<2x3xi8>
  return %0 : tensor<2x3xi8>
}
func.func @of_cast(%a: tensor<2x?xi8>, %s: i8) -> (tensor<?x?xi8>, tensor<2x4xi8>) {
  %0 = tensor.cast %a : tensor<2x?xi8> to tensor<?x?xi8>
  %1 = tensor.pad %0 low[1, 1] high[0, 0] {
  ^bb0(%i: index, %j: index):
    tensor.yield %s : i8
  } : tensor<?x?xi8> to tensor<?x?xi8>
  %2 = tensor.pad %0 low[0, 1] high[0, 1] {
  ^bb0(%i: index, %j: index):
    tensor.yield %s : i8
  } : tensor<?x?xi8> to tensor<2x4xi8>
  return %1, %2 : tensor<?x?xi8>, tensor<2x4xi8>
}
func.func @then_cast(%a: tensor<?x3xi8>, %s: i8) -> tensor<3x3xi8> {
  %0 = tensor.pad %a low[1, 0] high[0, 0] {
  ^bb0(%i: index, %j: index):
    tensor.yield %s : i8
  } : tensor<?x3xi8> to tensor<?x3xi8>
  %1 = tensor.cast %0 : tensor<?x3xi8> to tensor<3x3xi8>
  return %1 : tensor<3x3xi8>
}
func.func @constant_margins(%a: tensor<2x3xi8>, %b: tensor<?x3xi8>, %s: i8) -> (tensor<?x4xi8>, tensor<?x4xi8>) {
  %c2 = arith.constant 2 : index
  %0 = tensor.pad %a low[%c2, 0] high[0, 1] {
  ^bb0(%i: index, %j: index):
    tensor.yield %s : i8
  } : tensor<2x3xi8> to tensor<?x4xi8>
  // The type cannot be refined.
  %1 = tensor.pad %b low[%c2, 0] high[0, 1] {
  ^bb0(%i: index, %j: index):
    tensor.yield %s : i8
  } : tensor<?x3xi8> to tensor<?x4xi8>
  return %0, %1 : tensor<?x4xi8>, tensor<?x4xi8>
}
func.func @in_a_row(%a: tensor<2x3xi8>, %n: index, %s: i8, %t: i8) -> (tensor<5x6xi8>, tensor<?x6xi8>, tensor<5x6xi8>) {
  %c3 = arith.constant 3 : index
  %k = arith.andi %n, %c3 : index
  %0 = tensor.pad %a low[1, 2] high[0, 0] {
  ^bb0(%i: index, %j: index):
    tensor.yield %s : i8
  } : tensor<2x3xi8> to tensor<3x5xi8>
  %1 = tensor.pad %0 low[0, 1] high[2, 0] {
  ^bb0(%i: index, %j: index):
    tensor.yield %s : i8
  } : tensor<3x5xi8> to tensor<5x6xi8>
  %2 = tensor.pad %0 low[%k, 1] high[%k, 0] {
  ^bb0(%i: index, %j: index):
    tensor.yield %s : i8
  } : tensor<3x5xi8> to tensor<?x6xi8>
  %3 = tensor.pad %0 low[0, 1] high[2, 0] {
  ^bb0(%i: index, %j: index):
    tensor.yield %t : i8
  } : tensor<3x5xi8> to tensor<5x6xi8>
  return %1, %2, %3 : tensor<5x6xi8>, tensor<?x6xi8>, tensor<5x6xi8>
}
// Negative padding after padding removes other elements than were added.
func.func @negative(%a: tensor<4xi8>, %s: i8) -> tensor<4xi8> {
  %0 = tensor.pad %a low[-1] high[0] {
  ^bb0(%i: index):
    tensor.yield %s : i8
  } : tensor<4xi8> to tensor<3xi8>
  %1 = tensor.pad %0 low[1] high[0] {
  ^bb0(%i: index):
    tensor.yield %s : i8
  } : tensor<3xi8> to tensor<4xi8>
  return %1 : tensor<4xi8>
}
func.func @computed(%a: tensor<2xindex>) -> tensor<4xindex> {
  %0 = tensor.pad %a low[1] high[0] {
  ^bb0(%i: index):
    tensor.yield %i : index
  } : tensor<2xindex> to tensor<3xindex>
  %1 = tensor.pad %0 low[1] high[0] {
  ^bb0(%i: index):
    tensor.yield %i : index
  } : tensor<3xindex> to tensor<4xindex>
  return %1 : tensor<4xindex>
}
func.func @orthogonal(%a: tensor<8x8xi8>, %n: index, %m: index, %s: i8) -> tensor<4x3xi8> {
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %size0 = arith.andi %n, %c3 : index
  %size1 = arith.andi %m, %c3 : index
  %pad0 = arith.subi %c4, %size0 : index
  %pad1 = arith.subi %c3, %size1 : index
  %0 = tensor.extract_slice %a[2, 0] [%size0, 8] [1, 1] : tensor<8x8xi8> to tensor<?x8xi8>
  %1 = tensor.pad %0 low[0, 0] high[%pad0, 0] {
  ^bb0(%i: index, %j: index):
    tensor.yield %s : i8
  } : tensor<?x8xi8> to tensor<4x8xi8>
  %2 = tensor.extract_slice %1[0, 3] [4, %size1] [1, 1] : tensor<4x8xi8> to tensor<4x?xi8>
  %3 = tensor.pad %2 low[0, 0] high[0, %pad1] {
  ^bb0(%i: index, %j: index):
    tensor.yield %s : i8
  } : tensor<4x?xi8> to tensor<4x3xi8>
  return %3 : tensor<4x3xi8>
}

// A region with effects is not cloned to another type, since the number of its runs would change.
func.func @then_cast_effects(%a: tensor<?x3xi8>, %s: i8) -> tensor<3x3xi8> {
  %0 = tensor.pad %a low[1, 0] high[0, 0] {
  ^bb0(%i: index, %j: index):
    func.call @outside() : () -> ()
    tensor.yield %s : i8
  } : tensor<?x3xi8> to tensor<?x3xi8>
  %1 = tensor.cast %0 : tensor<?x3xi8> to tensor<3x3xi8>
  return %1 : tensor<3x3xi8>
}
func.func private @outside()
