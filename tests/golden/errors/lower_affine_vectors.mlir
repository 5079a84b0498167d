// RUN: gradus opt %s --lower-affine --verify-diagnostics

func.func @vectors(%m: memref<8xf32>, %i: index) -> vector<2x4xf32> {
  // expected-error @+3 {{failed to legalize operation 'affine.vector_load' that was explicitly marked illegal}}
  // expected-note @+2 {{target 'scf' forbids dialect 'affine'}}
  // expected-note @+1 {{pattern 'load-to-vector' refused: 'vector.load' does not support vectors of higher rank than the memref}}
  %0 = affine.vector_load %m[%i] : memref<8xf32>, vector<2x4xf32>
  return %0 : vector<2x4xf32>
}
