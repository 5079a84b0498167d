// RUN: gradus opt %s --affine-loop-tile=tile-size=2 | FileCheck %s
// COM: The end of a tile would not be an index.

// CHECK-LABEL: func.func @step_of_half_the_range
// CHECK-COUNT-1: affine.for
// CHECK-NOT:     affine.for
func.func @step_of_half_the_range(%m: memref<4xi32>, %x: i32) {
  affine.for %i = 0 to 4 step 4611686018427387904 {
    affine.store %x, %m[%i] : memref<4xi32>
  }
  return
}

// CHECK-LABEL: func.func @step_of_a_quarter
// CHECK:         affine.for %{{.*}} = 0 to 4 step 4611686018427387902
func.func @step_of_a_quarter(%m: memref<4xi32>, %x: i32) {
  affine.for %i = 0 to 4 step 2305843009213693951 {
    affine.store %x, %m[%i] : memref<4xi32>
  }
  return
}
