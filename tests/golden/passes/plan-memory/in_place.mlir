// RUN: gradus opt %s --form-steps=fuse=false --plan-memory=alignment=32 --split-input-file | FileCheck %s

// The result of an elementwise step takes the bytes of an input that no other step reads later.
// CHECK-LABEL: func.func @chain(
// CHECK:         %[[HOST:.*]] = sched.arena "host" : memref<32xi8>
// CHECK:         sched.buffer %[[HOST]][0]
// CHECK:         graph.relu
// CHECK:         sched.buffer %[[HOST]][0]
// CHECK:         graph.neg
func.func @chain(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = graph.relu %x : tensor<8xf32>
  %1 = graph.neg %0 : tensor<8xf32>
  %2 = graph.sqrt %1 : tensor<8xf32>
  return %2 : tensor<8xf32>
}

// -----

// An operand that is broadcast to the result keeps its own bytes, and so do the inputs of other ops. The last sum takes the
// bytes of the transpose.
// CHECK-LABEL: func.func @other_shapes(
// CHECK:         %[[HOST:.*]] = sched.arena "host" : memref<160xi8>
// CHECK:         sched.buffer %[[HOST]][128]
// CHECK:         graph.neg
// CHECK:         sched.buffer %[[HOST]][0]
// CHECK:         graph.transpose
// CHECK:         sched.buffer %[[HOST]][64]
// CHECK:         graph.add
// CHECK:         sched.buffer %[[HOST]][0]
// CHECK:         graph.add
func.func @other_shapes(%x: tensor<1x4xf32>, %y: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = graph.neg %x : tensor<1x4xf32>
  %1 = graph.transpose %y {perm = array<i64: 1, 0>} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %2 = graph.add %0, %y : (tensor<1x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %3 = graph.add %1, %2 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %4 = graph.sqrt %3 : tensor<4x4xf32>
  return %4 : tensor<4x4xf32>
}

// -----

// A later read keeps the input alive.
// CHECK-LABEL: func.func @read_later(
// CHECK:         sched.arena "host" : memref<64xi8>
func.func @read_later(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = graph.relu %x : tensor<8xf32>
  %1 = graph.neg %0 : tensor<8xf32>
  %2 = graph.add %0, %1 : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  return %2 : tensor<8xf32>
}
