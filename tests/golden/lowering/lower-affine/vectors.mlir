// RUN: gradus opt %s --lower-affine --allow-unregistered-dialect

func.func @vectors(%m: memref<8x16xi32>) {
  affine.for %i = 0 to 4 {
    %0 = affine.vector_load %m[%i, %i + 4] : memref<8x16xi32>, vector<4xi32>
    affine.vector_store %0, %m[%i + 1, 0] : memref<8x16xi32>, vector<4xi32>
  }
  return
}
