// RUN: gradus opt %s --lower-affine --allow-unregistered-dialect | FileCheck %s

// Vector accesses are lowered to the `vector` dialect.
// CHECK-LABEL: func.func @vectors(
// CHECK:         scf.for
// CHECK-NOT:     affine
// CHECK:         vector.load
// CHECK-NOT:     affine
// CHECK:         vector.store
// CHECK-NOT:     affine
func.func @vectors(%m: memref<8x1600xi32>) {
  affine.for %i = 0 to 4 {
    %0 = affine.vector_load %m[%i, %i + 4] : memref<8x1600xi32>, vector<4xi32>
    affine.vector_store %0, %m[%i + 1, 0] : memref<8x1600xi32>, vector<4xi32>
  }
  return
}
