// RUN: gradus opt %s --canonicalize

func.func @static(%a: tensor<4x?xf32>) -> (index, index, index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0 = tensor.dim %a, %c0 : tensor<4x?xf32>
  %1 = tensor.dim %a, %c1 : tensor<4x?xf32>
  %2 = tensor.rank %a : tensor<4x?xf32>
  return %0, %1, %2 : index, index, index
}
// Dimensions out of range are UB.
func.func @outside(%a: tensor<4x?xf32>) -> (index, index) {
  %c2 = arith.constant 2 : index
  %c-1 = arith.constant -1 : index
  %0 = tensor.dim %a, %c2 : tensor<4x?xf32>
  %1 = tensor.dim %a, %c-1 : tensor<4x?xf32>
  return %0, %1 : index, index
}
func.func @of_cast(%a: tensor<4x?xf32>, %b: tensor<?xf32>) -> (index, index, index, index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0 = tensor.cast %a : tensor<4x?xf32> to tensor<?x?xf32>
  %1 = tensor.dim %0, %c0 : tensor<?x?xf32>
  %2 = tensor.dim %0, %c1 : tensor<?x?xf32>
  %3 = tensor.cast %b : tensor<?xf32> to tensor<*xf32>
  %4 = tensor.dim %3, %c0 : tensor<*xf32>
  %5 = tensor.rank %3 : tensor<*xf32>
  return %1, %2, %4, %5 : index, index, index, index
}
func.func @of_sizes(%n: index, %s: f32) -> (index, index, index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c7 = arith.constant 7 : index
  %k = arith.andi %n, %c7 : index
  %0 = tensor.empty(%k, %n) : tensor<?x4x?xf32>
  %1 = tensor.dim %0, %c0 : tensor<?x4x?xf32>
  %2 = tensor.dim %0, %c2 : tensor<?x4x?xf32>
  %3 = tensor.generate %k {
  ^bb0(%i: index, %j: index):
    tensor.yield %s : f32
  } : tensor<2x?xf32>
  %4 = tensor.dim %3, %c1 : tensor<2x?xf32>
  return %1, %2, %4 : index, index, index
}
func.func @of_slice(%a: tensor<8x8xf32>, %n: index) -> (index, index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0 = tensor.extract_slice %a[0, 0] [%n, 3] [1, 1] : tensor<8x8xf32> to tensor<?x3xf32>
  %1 = tensor.dim %0, %c0 : tensor<?x3xf32>
  // Not folded: with dropped dimensions, the dimension of the source is not known.
  %2 = tensor.extract_slice %a[0, 0] [1, %n] [1, 1] : tensor<8x8xf32> to tensor<?xf32>
  %3 = tensor.dim %2, %c0 : tensor<?xf32>
  return %1, %3 : index, index
}
func.func @of_destination(%a: tensor<?xf32>, %s: f32, %b: tensor<1xf32>) -> (index, index, index) {
  %c0 = arith.constant 0 : index
  %at = arith.constant dense<0> : tensor<1x1xindex>
  %0 = tensor.insert %s into %a[%c0] : tensor<?xf32>
  %1 = tensor.dim %0, %c0 : tensor<?xf32>
  %2 = tensor.insert_slice %b into %a[0] [1] [1] : tensor<1xf32> into tensor<?xf32>
  %3 = tensor.dim %2, %c0 : tensor<?xf32>
  %4 = tensor.scatter %b into %a[%at] scatter_dims([0]) unique : (tensor<1xf32>, tensor<?xf32>, tensor<1x1xindex>) -> tensor<?xf32>
  %5 = tensor.dim %4, %c0 : tensor<?xf32>
  return %1, %3, %5 : index, index, index
}
func.func @of_reshape(%a: tensor<6xf32>, %n: index, %m: i32) -> (index, index) {
  %c1 = arith.constant 1 : index
  %c0 = arith.constant 0 : index
  %0 = tensor.from_elements %n, %n : tensor<2xindex>
  %1 = tensor.reshape %a(%0) : (tensor<6xf32>, tensor<2xindex>) -> tensor<?x?xf32>
  %2 = tensor.dim %1, %c1 : tensor<?x?xf32>
  %3 = tensor.from_elements %m : tensor<1xi32>
  %4 = tensor.reshape %a(%3) : (tensor<6xf32>, tensor<1xi32>) -> tensor<?xf32>
  %5 = tensor.dim %4, %c0 : tensor<?xf32>
  return %2, %5 : index, index
}
func.func @reshape(%a: tensor<2x3xf32>, %b: tensor<?xf32>, %c: tensor<?x?xi8>, %shape: tensor<2xi32>, %n: tensor<1xi32>) -> (tensor<2x3xf32>, tensor<?xf32>, tensor<?x?xi8>, tensor<?x?xi8>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0 = tensor.reshape %a(%shape) : (tensor<2x3xf32>, tensor<2xi32>) -> tensor<2x3xf32>
  %1 = tensor.reshape %b(%n) : (tensor<?xf32>, tensor<1xi32>) -> tensor<?xf32>
  %2 = tensor.dim %c, %c0 : tensor<?x?xi8>
  %3 = tensor.dim %c, %c1 : tensor<?x?xi8>
  %4 = tensor.from_elements %2, %3 : tensor<2xindex>
  %5 = tensor.reshape %c(%4) : (tensor<?x?xi8>, tensor<2xindex>) -> tensor<?x?xi8>
  // The extents are swapped, so the reshape stays.
  %6 = tensor.from_elements %3, %2 : tensor<2xindex>
  %7 = tensor.reshape %c(%6) : (tensor<?x?xi8>, tensor<2xindex>) -> tensor<?x?xi8>
  return %0, %1, %5, %7 : tensor<2x3xf32>, tensor<?xf32>, tensor<?x?xi8>, tensor<?x?xi8>
}
func.func @known_extent(%a: tensor<3x?xi8>) -> tensor<3x?xi8> {
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %0 = tensor.dim %a, %c1 : tensor<3x?xi8>
  %1 = tensor.from_elements %c3, %0 : tensor<2xindex>
  %2 = tensor.reshape %a(%1) : (tensor<3x?xi8>, tensor<2xindex>) -> tensor<3x?xi8>
  return %2 : tensor<3x?xi8>
}
func.func @reshape_of_reshape(%a: tensor<4xi8>, %m: tensor<2xi32>) -> tensor<?x?xi8> {
  %shape = arith.constant dense<[2, 2]> : tensor<2xi32>
  %0 = tensor.reshape %a(%m) : (tensor<4xi8>, tensor<2xi32>) -> tensor<?x?xi8>
  %1 = tensor.reshape %0(%shape) : (tensor<?x?xi8>, tensor<2xi32>) -> tensor<?x?xi8>
  return %1 : tensor<?x?xi8>
}
func.func @constant() -> (tensor<2x2xi8>, tensor<2x2xi4>) {
  %shape = arith.constant dense<2> : tensor<2xi32>
  %0 = arith.constant dense<[1, 2, 3, 4]> : tensor<4xi8>
  %1 = tensor.reshape %0(%shape) : (tensor<4xi8>, tensor<2xi32>) -> tensor<2x2xi8>
  %2 = arith.constant dense<[1, 2, 3, -4]> : tensor<4xi4>
  %3 = tensor.reshape %2(%shape) : (tensor<4xi4>, tensor<2xi32>) -> tensor<2x2xi4>
  return %1, %3 : tensor<2x2xi8>, tensor<2x2xi4>
}
