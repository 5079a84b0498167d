// RUN: gradus opt %s --canonicalize

func.func @of_constant(%i: index) -> (i8, f32, i1, i4, f16, f16, f128) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0 = arith.constant dense<[[1, 2], [3, -4]]> : tensor<2x2xi8>
  %1 = tensor.extract %0[%c1, %c1] : tensor<2x2xi8>
  %2 = arith.constant dense<4.0> : tensor<4xf32>
  %3 = tensor.extract %2[%i] : tensor<4xf32>
  %4 = arith.constant dense<[false, true]> : tensor<2xi1>
  %5 = tensor.extract %4[%c1] : tensor<2xi1>
  %6 = arith.constant dense<[1, -3]> : tensor<2xi4>
  %7 = tensor.extract %6[%c1] : tensor<2xi4>
  %8 = arith.constant sparse<[[0, 1], [1, 0]], [-5.0, -2.0]> : tensor<2x2xf16>
  %9 = tensor.extract %8[%c1, %c0] : tensor<2x2xf16>
  %10 = tensor.extract %8[%c1, %c1] : tensor<2x2xf16>
  %11 = arith.constant dense<[1.5, 2.5]> : tensor<2xf128>
  %12 = tensor.extract %11[%c1] : tensor<2xf128>
  return %1, %3, %5, %7, %9, %10, %12 : i8, f32, i1, i4, f16, f16, f128
}
// Indices out of bounds are UB.
func.func @outside() -> (i8, i8) {
  %c2 = arith.constant 2 : index
  %c-1 = arith.constant -1 : index
  %0 = arith.constant dense<[1, 2]> : tensor<2xi8>
  %1 = tensor.extract %0[%c2] : tensor<2xi8>
  %2 = tensor.extract %0[%c-1] : tensor<2xi8>
  return %1, %2 : i8, i8
}
func.func @of_scalars(%a: i8, %b: i8, %i: index) -> (i8, i8, i8) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0 = tensor.from_elements %a, %b, %a, %a : tensor<2x2xi8>
  %1 = tensor.extract %0[%c0, %c1] : tensor<2x2xi8>
  %2 = tensor.extract %0[%c1, %c0] : tensor<2x2xi8>
  %3 = tensor.splat %b : tensor<4xi8>
  %4 = tensor.extract %3[%i] : tensor<4xi8>
  return %1, %2, %4 : i8, i8, i8
}
func.func @of_cast(%a: tensor<4xi8>) -> (i8, i8) {
  %c1 = arith.constant 1 : index
  %0 = tensor.cast %a : tensor<4xi8> to tensor<?xi8>
  %1 = tensor.extract %0[%c1] : tensor<?xi8>
  %2 = tensor.cast %a : tensor<4xi8> to tensor<*xi8>
  %3 = tensor.cast %2 : tensor<*xi8> to tensor<?xi8>
  %4 = tensor.extract %3[%c1] : tensor<?xi8>
  return %1, %4 : i8, i8
}
func.func @of_inserted(%a: tensor<4xi8>, %s: i8, %i: index, %j: index) -> (i8, i8) {
  %0 = tensor.insert %s into %a[%i] : tensor<4xi8>
  %1 = tensor.extract %0[%i] : tensor<4xi8>
  %2 = tensor.extract %0[%j] : tensor<4xi8>
  return %1, %2 : i8, i8
}
func.func @of_converted(%a: tensor<4xi8>, %i: index) -> index {
  %c3 = arith.constant 3 : index
  %k = arith.andi %i, %c3 : index
  %0 = arith.index_cast %a : tensor<4xi8> to tensor<4xindex>
  %1 = tensor.extract %0[%k] : tensor<4xindex>
  return %1 : index
}
func.func @of_generated(%a: tensor<4x4xi8>, %i: index, %j: index) -> i8 {
  %c3 = arith.constant 3 : index
  %k = arith.andi %i, %c3 : index
  %l = arith.andi %j, %c3 : index
  %0 = tensor.generate  {
  ^bb0(%x: index, %y: index):
    %1 = tensor.extract %a[%y, %x] : tensor<4x4xi8>
    %2 = arith.index_cast %x : index to i8
    %3 = arith.addi %1, %2 : i8
    tensor.yield %3 : i8
  } : tensor<4x4xi8>
  %4 = tensor.extract %0[%k, %l] : tensor<4x4xi8>
  return %4 : i8
}
func.func @insert(%a: tensor<4xi8>, %s: i8, %i: index) -> (tensor<4xi8>, tensor<?xi8>, tensor<4xi8>) {
  %c7 = arith.constant 7 : i8
  %0 = arith.constant dense<7> : tensor<4xi8>
  %1 = tensor.insert %c7 into %0[%i] : tensor<4xi8>
  %2 = tensor.cast %a : tensor<4xi8> to tensor<?xi8>
  %3 = tensor.insert %s into %2[%i] : tensor<?xi8>
  // Inserting an element does not copy a constant.
  %c0 = arith.constant 0 : index
  %4 = arith.constant dense<[1, 2, 3, 4]> : tensor<4xi8>
  %5 = tensor.insert %c7 into %4[%c0] : tensor<4xi8>
  return %1, %3, %5 : tensor<4xi8>, tensor<?xi8>, tensor<4xi8>
}
