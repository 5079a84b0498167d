// RUN: gradus opt %s --convert-matmul-to-nna | FileCheck %s

// A given mapping; products of the same extents share a program.
// CHECK-LABEL: func.func @given(
// CHECK: nna.call @nna0 %{{.*}}, %{{.*}} : (tensor<4x18xi8>, tensor<18x64xi8>) -> tensor<4x64xi32>
// CHECK: nna.call @nna1 %
// CHECK: nna.call @nna0 %
func.func @given(%a: tensor<4x18xi8>, %b: tensor<18x64xi8>) -> (tensor<4x64xi32>, tensor<4x64xi32>, tensor<4x64xi32>) {
  %0 = nna.matmul diagonal %a, %b : (tensor<4x18xi8>, tensor<18x64xi8>) -> tensor<4x64xi32>
  %1 = nna.matmul dense %a, %b : (tensor<4x18xi8>, tensor<18x64xi8>) -> tensor<4x64xi32>
  %2 = nna.matmul diagonal %a, %b : (tensor<4x18xi8>, tensor<18x64xi8>) -> tensor<4x64xi32>
  return %0, %1, %2 : tensor<4x64xi32>, tensor<4x64xi32>, tensor<4x64xi32>
}

// One row and many columns of a constant: the columns take the place of the weights, in the product of the transposes. That of the row has
// the same bytes.
// CHECK-LABEL: func.func @turned(
// CHECK: graph.transpose %{{.*}} : (tensor<50x40xi8>) -> tensor<40x50xi8>
// CHECK-NEXT: %[[SHAPE:.*]] = graph.constant
// CHECK-NEXT: graph.reshape %arg0, %[[SHAPE]]
// CHECK: nna.call @nna2 %{{.*}}, %{{.*}} a_zero %arg2 b_zero %arg1 : (tensor<40x50xi8>, tensor<50x1xui8>, tensor<i8>, tensor<ui8>) -> tensor<40x1xi32>
// CHECK-NOT: graph.transpose
func.func @turned(%a: tensor<1x50xui8>, %x: tensor<ui8>, %y: tensor<i8>) -> tensor<1x40xi32> {
  %b = graph.constant dense<3> : tensor<50x40xi8>
  %0 = graph.matmul_integer %a, %b a_zero %x b_zero %y : (tensor<1x50xui8>, tensor<50x40xi8>, tensor<ui8>, tensor<i8>) -> tensor<1x40xi32>
  return %0 : tensor<1x40xi32>
}

// The host would move all elements for the product of the transposes, which takes the machine 69 cycles: it does not.
// CHECK-LABEL: func.func @host(
// CHECK-NEXT: nna.call @nna3 %arg0, %arg1 : (tensor<4x9xi8>, tensor<9x32xi8>) -> tensor<4x32xi32>
// CHECK-NEXT: return
func.func @host(%a: tensor<4x9xi8>, %b: tensor<9x32xi8>) -> tensor<4x32xi32> {
  %0 = graph.matmul_integer %a, %b : (tensor<4x9xi8>, tensor<9x32xi8>) -> tensor<4x32xi32>
  return %0 : tensor<4x32xi32>
}

// Columns beyond a multiple of 32 are padded in the memory of the machine.
// CHECK-LABEL: func.func @padded(
// CHECK-NEXT: nna.call @nna4 %arg0, %arg1 : (tensor<2x9xi8>, tensor<9x100xi8>) -> tensor<2x100xi32>
func.func @padded(%a: tensor<2x9xi8>, %b: tensor<9x100xi8>) -> tensor<2x100xi32> {
  %0 = nna.matmul diagonal %a, %b : (tensor<2x9xi8>, tensor<9x100xi8>) -> tensor<2x100xi32>
  return %0 : tensor<2x100xi32>
}

// Extents that are unknown or zero stay.
// CHECK-LABEL: func.func @refused(
// CHECK: graph.matmul_integer
// CHECK: graph.matmul_integer
func.func @refused(%a: tensor<?x4xi8>, %b: tensor<4x4xi8>, %c: tensor<0x4xi8>) -> (tensor<?x4xi32>, tensor<0x4xi32>) {
  %0 = graph.matmul_integer %a, %b : (tensor<?x4xi8>, tensor<4x4xi8>) -> tensor<?x4xi32>
  %1 = graph.matmul_integer %c, %b : (tensor<0x4xi8>, tensor<4x4xi8>) -> tensor<0x4xi32>
  return %0, %1 : tensor<?x4xi32>, tensor<0x4xi32>
}

// CHECK: nna.program @nna0 product [4, 18, 64] diagonal
// CHECK: nna.nnmacg fram0, wram0, block0
// CHECK: nna.program @nna1 product [4, 18, 64] dense
// CHECK: nna.program @nna2 product [40, 50, 1] dense {{.*}} initial machine
// CHECK: nna.program @nna3 product [4, 9, 32] dense
// CHECK: nna.program @nna4 product [2, 9, 100] diagonal {{.*}} padded machine
// CHECK-NOT: nna.madd
