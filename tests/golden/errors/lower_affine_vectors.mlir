// RUN: gradus opt %s --lower-affine --verify-diagnostics

func.func @vectors(%m: memref<8xf32>, %i: index) -> vector<2x4xf32> {
  // expected-error @+1 {{'vector.load' accesses no vectors of more dimensions than the memory}}
  %0 = affine.vector_load %m[%i] : memref<8xf32>, vector<2x4xf32>
  return %0 : vector<2x4xf32>
}
