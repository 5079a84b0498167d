// RUN: gradus opt %s --loop-invariant-code-motion | FileCheck %s

// A product whose inner extents may differ stays in the loop, which may not run.
// CHECK-LABEL: func.func @unknown
// CHECK: scf.for
// CHECK-NEXT: graph.matmul
func.func @unknown(%n: index, %a: tensor<2x3xf32>, %b: tensor<?x4xf32>, %init: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%x = %init) -> (tensor<2x4xf32>) {
    %0 = graph.matmul %a, %b : (tensor<2x3xf32>, tensor<?x4xf32>) -> tensor<2x4xf32>
    %1 = graph.add %x, %0 : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
    scf.yield %1 : tensor<2x4xf32>
  }
  return %r : tensor<2x4xf32>
}

// CHECK-LABEL: func.func @known
// CHECK: graph.matmul
// CHECK: scf.for
func.func @known(%n: index, %a: tensor<2x3xf32>, %b: tensor<3x4xf32>, %init: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%x = %init) -> (tensor<2x4xf32>) {
    %0 = graph.matmul %a, %b : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
    %1 = graph.add %x, %0 : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
    scf.yield %1 : tensor<2x4xf32>
  }
  return %r : tensor<2x4xf32>
}

// Indices may be out of range, which only a loop that runs shows.
// CHECK-LABEL: func.func @indices
// CHECK: scf.for
// CHECK-NEXT: graph.gather
func.func @indices(%n: index, %a: tensor<4xf32>, %at: tensor<4xi64>, %init: tensor<4xf32>) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%x = %init) -> (tensor<4xf32>) {
    %0 = graph.gather %a, %at {axis = 0 : i64} : (tensor<4xf32>, tensor<4xi64>) -> tensor<4xf32>
    %1 = graph.add %x, %0 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    scf.yield %1 : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}
