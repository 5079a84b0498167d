// RUN: gradus opt %s --canonicalize

// Ops on vectors and tensors apply elementwise.
func.func @tensors(%a: tensor<2x?xi32>, %b: tensor<2x?xi32>) -> tensor<2x?xi1> {
  %0 = arith.addi %a, %b : tensor<2x?xi32>
  %1 = arith.cmpi slt, %0, %b : tensor<2x?xi32>
  return %1 : tensor<2x?xi1>
}
func.func @vectors(%a: vector<4xf32>) -> vector<4xf64> {
  %c = arith.constant dense<[1.0, 2.0, 3.0, 4.0]> : vector<4xf32>
  %0 = arith.mulf %a, %c : vector<4xf32>
  %1 = arith.extf %0 : vector<4xf32> to vector<4xf64>
  return %1 : vector<4xf64>
}
func.func @folded() -> (tensor<3xi32>, vector<2xi8>) {
  %a = arith.constant dense<[1, 2, 3]> : tensor<3xi32>
  %b = arith.constant dense<10> : tensor<3xi32>
  %0 = arith.muli %a, %b : tensor<3xi32>
  %c = arith.constant dense<[300, -1]> : vector<2xi32>
  %1 = arith.trunci %c : vector<2xi32> to vector<2xi8>
  return %0, %1 : tensor<3xi32>, vector<2xi8>
}
