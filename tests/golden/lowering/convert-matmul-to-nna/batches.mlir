// RUN: gradus opt %s --convert-matmul-to-nna --canonicalize | FileCheck %s

// A batch on the left: its rows are those of one product.
// CHECK-LABEL: func.func @rows(
// CHECK: nna.call @nna0 %{{.*}}, %arg1 : (tensor<6x9xi8>, tensor<9x64xi8>) -> tensor<6x64xi32>
// CHECK-NOT: nna.call
func.func @rows(%a: tensor<3x2x9xi8>, %b: tensor<9x64xi8>) -> tensor<3x2x64xi32> {
  %0 = graph.matmul_integer %a, %b : (tensor<3x2x9xi8>, tensor<9x64xi8>) -> tensor<3x2x64xi32>
  return %0 : tensor<3x2x64xi32>
}

// Zero points of rows are those of all rows of the batch.
// CHECK-LABEL: func.func @zeros(
// CHECK: graph.expand
// CHECK: nna.call @nna1 %{{.*}}, %arg1 a_zero %{{.*}} : (tensor<6x9xi8>, tensor<9x64xi8>, tensor<6xi8>) -> tensor<6x64xi32>
func.func @zeros(%a: tensor<3x2x9xi8>, %b: tensor<9x64xi8>, %z: tensor<2xi8>) -> tensor<3x2x64xi32> {
  %0 = graph.matmul_integer %a, %b a_zero %z : (tensor<3x2x9xi8>, tensor<9x64xi8>, tensor<2xi8>) -> tensor<3x2x64xi32>
  return %0 : tensor<3x2x64xi32>
}

// Batches on both sides: a call for each product, which broadcast.
// CHECK-LABEL: func.func @batches(
// CHECK-COUNT-3: nna.call @nna2 %{{.*}}, %{{.*}} : (tensor<4x9xi8>, tensor<9x64xi8>) -> tensor<4x64xi32>
// CHECK-NOT: nna.call
// CHECK: graph.concat
func.func @batches(%a: tensor<3x2x2x9xi8>, %b: tensor<3x1x9x64xi8>) -> tensor<3x2x2x64xi32> {
  %0 = graph.matmul_integer %a, %b : (tensor<3x2x2x9xi8>, tensor<3x1x9x64xi8>) -> tensor<3x2x2x64xi32>
  return %0 : tensor<3x2x2x64xi32>
}

// Vectors are a row and a column.
// CHECK-LABEL: func.func @vectors(
// CHECK: nna.call @nna3 %{{.*}}, %{{.*}} : (tensor<1x50xi8>, tensor<50x1xi8>) -> tensor<1x1xi32>
// CHECK: graph.reshape {{.*}} -> tensor<i32>
func.func @vectors(%a: tensor<50xi8>, %b: tensor<50xi8>) -> tensor<i32> {
  %0 = graph.matmul_integer %a, %b : (tensor<50xi8>, tensor<50xi8>) -> tensor<i32>
  return %0 : tensor<i32>
}

// A sum that may exceed 32 bits is divided into two programs.
// CHECK-LABEL: func.func @long(
// CHECK: nna.call @nna4 {{.*}} : (tensor<1x65536xi8>, tensor<65536x1xi8>) -> tensor<1x1xi32>
// CHECK: nna.call @nna4
// CHECK: graph.add
func.func @long(%a: tensor<1x131072xi8>, %b: tensor<131072x1xi8>) -> tensor<1x1xi32> {
  %0 = graph.matmul_integer %a, %b : (tensor<1x131072xi8>, tensor<131072x1xi8>) -> tensor<1x1xi32>
  return %0 : tensor<1x1xi32>
}
