// RUN: not gradus opt %s --lower-affine 2>&1 | FileCheck %s

// CHECK: error: failed to legalize operation 'affine.parallel'
// CHECK: pattern 'parallel-to-scf' refused: 'scf.parallel' has positive steps
func.func @f(%m: memref<10xf32>) {
  affine.parallel (%i, %j) = (0, 0) to (10, 2) step (1, 0) {
    %c = arith.constant 0.0 : f32
    affine.store %c, %m[%i] : memref<10xf32>
  }
  return
}
