// RUN: gradus opt %s --canonicalize

func.func @empty(%n: index) -> (tensor<4x?x?xf32>, tensor<?x8xf32>, tensor<?xf32>) {
  %c5 = arith.constant 5 : index
  %c-5 = arith.constant -5 : index
  %0 = tensor.empty(%c5, %n) : tensor<4x?x?xf32>
  %1 = tensor.empty(%n, %n) : tensor<?x?xf32>
  %2 = tensor.cast %1 : tensor<?x?xf32> to tensor<?x8xf32>
  // UB, which is kept.
  %3 = tensor.empty(%c-5) : tensor<?xf32>
  return %0, %2, %3 : tensor<4x?x?xf32>, tensor<?x8xf32>, tensor<?xf32>
}
func.func @splat() -> (tensor<2x2xf32>, tensor<4xi1>, tensor<3xi4>, tensor<1048576x1048576xi8>) {
  %0 = arith.constant 1.5 : f32
  %1 = tensor.splat %0 : tensor<2x2xf32>
  %2 = arith.constant true
  %3 = tensor.splat %2 : tensor<4xi1>
  %4 = arith.constant -3 : i4
  %5 = tensor.splat %4 : tensor<3xi4>
  %6 = arith.constant 1 : i8
  %7 = tensor.splat %6 : tensor<1048576x1048576xi8>
  return %1, %3, %5, %7 : tensor<2x2xf32>, tensor<4xi1>, tensor<3xi4>, tensor<1048576x1048576xi8>
}
func.func @sized_splat() -> (tensor<?xi8>, tensor<?xi8>) {
  %0 = arith.constant 1 : i8
  %c4 = arith.constant 4 : index
  %c-4 = arith.constant -4 : index
  %1 = tensor.splat %0[%c4] : tensor<?xi8>
  %2 = tensor.splat %0[%c-4] : tensor<?xi8>
  return %1, %2 : tensor<?xi8>, tensor<?xi8>
}
func.func @from_elements(%s: index) -> (tensor<3xindex>, tensor<2x2xf16>, tensor<0xi8>, tensor<2xi1>, tensor<2xf128>, tensor<2xindex>) {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %0 = tensor.from_elements %c1, %c2, %c1 : tensor<3xindex>
  %1 = arith.constant -1.5 : f16
  %2 = tensor.from_elements %1, %1, %1, %1 : tensor<2x2xf16>
  %3 = tensor.from_elements  : tensor<0xi8>
  %true = arith.constant true
  %false = arith.constant false
  %4 = tensor.from_elements %true, %false : tensor<2xi1>
  %5 = arith.constant 1.5 : f128
  %6 = arith.constant 2.5 : f128
  %7 = tensor.from_elements %5, %6 : tensor<2xf128>
  %8 = tensor.from_elements %c1, %s : tensor<2xindex>
  return %0, %2, %3, %4, %7, %8 : tensor<3xindex>, tensor<2x2xf16>, tensor<0xi8>, tensor<2xi1>, tensor<2xf128>, tensor<2xindex>
}
func.func @generate(%n: index, %s: f32) -> (tensor<2x?xf32>, tensor<?xf32>) {
  %c4 = arith.constant 4 : index
  %c-4 = arith.constant -4 : index
  %0 = tensor.generate %c4 {
  ^bb0(%i: index, %j: index):
    tensor.yield %s : f32
  } : tensor<2x?xf32>
  %1 = tensor.generate %c-4 {
  ^bb0(%i: index):
    tensor.yield %s : f32
  } : tensor<?xf32>
  return %0, %1 : tensor<2x?xf32>, tensor<?xf32>
}
func.func @unused(%n: index, %s: f32) {
  %c7 = arith.constant 7 : index
  %k = arith.andi %n, %c7 : index
  %0 = tensor.generate %k {
  ^bb0(%i: index):
    tensor.yield %s : f32
  } : tensor<?xf32>
  %1 = tensor.empty(%n) : tensor<?xf32>
  return
}
