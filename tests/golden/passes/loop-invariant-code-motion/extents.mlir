// RUN: gradus opt %s --loop-invariant-code-motion | FileCheck %s

// COM: Extents of a constant dimension in range are hoisted, as by MLIR: no extent of a poison memref or tensor is undefined behavior.
// CHECK-LABEL: func.func @extents
// CHECK:         memref.dim %arg0, %c0
// CHECK-NEXT:    tensor.dim %arg1, %c0
// CHECK-NEXT:    memref.rank %arg3
// CHECK:         scf.for
// CHECK-NEXT:      memref.dim %arg0, %c5
// CHECK-NEXT:      tensor.dim %arg1, %arg2
// CHECK-NEXT:      memref.dim %arg3, %c0
func.func @extents(%m: memref<?x4xf32>, %t: tensor<?x4xf32>, %n: index, %u: memref<*xf32>) -> (index, index, index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %r:3 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %c0, %b = %c0, %c = %c0) -> (index, index, index) {
    %0 = memref.dim %m, %c0 : memref<?x4xf32>
    %1 = tensor.dim %t, %c0 : tensor<?x4xf32>
    %2 = memref.dim %m, %c5 : memref<?x4xf32>
    %3 = tensor.dim %t, %n : tensor<?x4xf32>
    %4 = memref.rank %u : memref<*xf32>
    %5 = memref.dim %u, %c0 : memref<*xf32>
    %6 = arith.addi %0, %1 : index
    %7 = arith.addi %2, %3 : index
    %8 = arith.addi %4, %5 : index
    scf.yield %6, %7, %8 : index, index, index
  }
  return %r#0, %r#1, %r#2 : index, index, index
}
