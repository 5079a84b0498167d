// RUN: gradus opt %s

func.func @products(%a: tensor<4x18xui8>, %b: tensor<18x64xi8>, %y: tensor<ui8>, %z: tensor<64xi8>) -> tensor<4x64xi32> {
  %0 = nna.matmul diagonal %a, %b : (tensor<4x18xui8>, tensor<18x64xi8>) -> tensor<4x64xi32>
  %1 = nna.matmul dense %a, %b a_zero %y : (tensor<4x18xui8>, tensor<18x64xi8>, tensor<ui8>) -> tensor<4x64xi32>
  %2 = nna.matmul dense %a, %b b_zero %z : (tensor<4x18xui8>, tensor<18x64xi8>, tensor<64xi8>) -> tensor<4x64xi32>
  %3 = nna.matmul diagonal %a, %b a_zero %y b_zero %z : (tensor<4x18xui8>, tensor<18x64xi8>, tensor<ui8>, tensor<64xi8>) -> tensor<4x64xi32>
  %4 = graph.sum %0, %1, %2, %3 : (tensor<4x64xi32>, tensor<4x64xi32>, tensor<4x64xi32>, tensor<4x64xi32>) -> tensor<4x64xi32>
  return %4 : tensor<4x64xi32>
}
