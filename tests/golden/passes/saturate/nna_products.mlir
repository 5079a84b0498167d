// RUN: gradus opt %s --saturate=target=nna | FileCheck %s

// The engine multiplies 8-bit integers: products of other types stay on the scalar processor.

// CHECK-LABEL: @integers(
// CHECK-NEXT: nna.matmul dense %arg0, %arg1 : (tensor<32x288xi8>, tensor<288x8xi8>) -> tensor<32x8xi32>
func.func @integers(%a: tensor<32x288xi8>, %b: tensor<288x8xi8>) -> tensor<32x8xi32> {
  %0 = graph.matmul_integer %a, %b : (tensor<32x288xi8>, tensor<288x8xi8>) -> tensor<32x8xi32>
  return %0 : tensor<32x8xi32>
}

// CHECK-LABEL: @few_rows(
// CHECK-NEXT: nna.matmul diagonal %arg0, %arg1
func.func @few_rows(%a: tensor<2x9xi8>, %b: tensor<9x256xi8>) -> tensor<2x256xi32> {
  %0 = graph.matmul_integer %a, %b : (tensor<2x9xi8>, tensor<9x256xi8>) -> tensor<2x256xi32>
  return %0 : tensor<2x256xi32>
}

// CHECK-LABEL: @zero_of_left(
// CHECK: nna.matmul dense %arg0, %arg1 a_zero %{{.*}} : (tensor<16x32xui8>, tensor<32x8xi8>, tensor<ui8>) -> tensor<16x8xi32>
func.func @zero_of_left(%a: tensor<16x32xui8>, %b: tensor<32x8xi8>) -> tensor<16x8xi32> {
  %z = graph.constant dense<128> : tensor<ui8>
  %0 = graph.matmul_integer %a, %b a_zero %z : (tensor<16x32xui8>, tensor<32x8xi8>, tensor<ui8>) -> tensor<16x8xi32>
  return %0 : tensor<16x8xi32>
}

// CHECK-LABEL: @zeros_of_columns(
// CHECK: nna.matmul dense %arg0, %arg1 b_zero %arg2 : (tensor<16x32xi8>, tensor<32x8xi8>, tensor<8xi8>) -> tensor<16x8xi32>
func.func @zeros_of_columns(%a: tensor<16x32xi8>, %b: tensor<32x8xi8>, %z: tensor<8xi8>) -> tensor<16x8xi32> {
  %0 = graph.matmul_integer %a, %b b_zero %z : (tensor<16x32xi8>, tensor<32x8xi8>, tensor<8xi8>) -> tensor<16x8xi32>
  return %0 : tensor<16x8xi32>
}

// CHECK-LABEL: @zeros_of_both(
// CHECK: nna.matmul dense %arg0, %arg1 a_zero %arg2 b_zero %arg3
func.func @zeros_of_both(%a: tensor<16x32xui8>, %b: tensor<32x8xui8>, %y: tensor<1xui8>, %z: tensor<ui8>) -> tensor<16x8xi32> {
  %0 = graph.matmul_integer %a, %b a_zero %y b_zero %z : (tensor<16x32xui8>, tensor<32x8xui8>, tensor<1xui8>, tensor<ui8>) -> tensor<16x8xi32>
  return %0 : tensor<16x8xi32>
}

// The product in i8 is the low 8 bits of the product in i32.
// CHECK-LABEL: @bytes(
// CHECK: nna.matmul dense %arg0, %arg1 : {{.*}} -> tensor<16x8xi32>
// CHECK: graph.cast {{.*}} to i8
func.func @bytes(%a: tensor<16x32xi8>, %b: tensor<32x8xi8>) -> tensor<16x8xi8> {
  %0 = graph.matmul %a, %b : (tensor<16x32xi8>, tensor<32x8xi8>) -> tensor<16x8xi8>
  return %0 : tensor<16x8xi8>
}

// The product in i32, scaled by one factor per column, rounded half to even and saturated.
// CHECK-LABEL: @quantized(
// CHECK: nna.matmul dense %arg0, %arg1 a_zero %{{.*}} b_zero %{{.*}} : {{.*}} -> tensor<32x8xi32>
// CHECK: graph.mul
// CHECK: graph.round
// CHECK: graph.add
// CHECK: graph.cast {{.*}} to ui8
func.func @quantized(%a: tensor<32x64xui8>, %b: tensor<64x8xi8>) -> tensor<32x8xui8> {
  %sa = graph.constant dense<0.02> : tensor<f32>
  %za = graph.constant dense<120> : tensor<ui8>
  %sb = graph.constant dense<[0.01, 0.02, 0.03, 0.04, 0.05, 0.06, 0.07, 0.08]> : tensor<8xf32>
  %zb = graph.constant dense<[0, 1, -1, 2, -2, 3, -3, 4]> : tensor<8xi8>
  %sy = graph.constant dense<0.1> : tensor<f32>
  %zy = graph.constant dense<100> : tensor<ui8>
  %0 = graph.qlinear_matmul %a, %sa, %za, %b, %sb, %zb, %sy, %zy : (tensor<32x64xui8>, tensor<f32>, tensor<ui8>, tensor<64x8xi8>, tensor<8xf32>, tensor<8xi8>, tensor<f32>, tensor<ui8>) -> tensor<32x8xui8>
  return %0 : tensor<32x8xui8>
}

// CHECK-LABEL: @floats(
// CHECK-NOT: nna.matmul
// CHECK: return
func.func @floats(%a: tensor<16x32xf32>, %b: tensor<32x8xf32>) -> tensor<16x8xf32> {
  %0 = graph.matmul %a, %b : (tensor<16x32xf32>, tensor<32x8xf32>) -> tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}
