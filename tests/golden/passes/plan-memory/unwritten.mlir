// RUN: gradus opt %s --plan-memory | FileCheck %s

// Only the bytes that the step writes are read of %a, so it is placed; %b is read before it is written.
// CHECK-LABEL: func.func @unwritten(
// CHECK:         sched.buffer %{{.*}}[0] : memref<64xi8> to memref<4xf32>
// CHECK:         memref.alloc() : memref<4xf32>
// CHECK-NOT:     sched.buffer
func.func @unwritten(%x: memref<4xf32>, %y: memref<4xf32>) {
  %a = memref.alloc() : memref<4xf32>
  memref.copy %x, %a : memref<4xf32> to memref<4xf32>
  %b = memref.alloc() : memref<4xf32>
  sched.step reads(%a, %b : memref<4xf32>, memref<4xf32>) writes(%y : memref<4xf32>) {
  ^bb0(%0: tensor<4xf32>, %1: tensor<4xf32>):
    %2 = graph.add %0, %1 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    sched.yield %2 : tensor<4xf32>
  }
  return
}

// The step writes bytes of %c that it reads, and is not elementwise.
// CHECK-LABEL: func.func @same_bytes(
// CHECK:         memref.alloc() : memref<2x2xf32>
// CHECK-NOT:     sched.buffer
func.func @same_bytes(%x: memref<2x2xf32>, %y: memref<2x2xf32>) {
  %c = memref.alloc() : memref<2x2xf32>
  memref.copy %x, %c : memref<2x2xf32> to memref<2x2xf32>
  sched.step reads(%c : memref<2x2xf32>) writes(%c : memref<2x2xf32>) {
  ^bb0(%0: tensor<2x2xf32>):
    %1 = graph.matmul %0, %0 : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
    sched.yield %1 : tensor<2x2xf32>
  }
  memref.copy %c, %y : memref<2x2xf32> to memref<2x2xf32>
  return
}
