// RUN: gradus opt %s --lower-affine --split-input-file --verify-diagnostics

func.func @modulo(%i: index) -> index {
  // expected-error@+3 {{failed to legalize operation 'affine.apply' that was explicitly marked illegal}}
  // expected-note@+2 {{target 'scf' forbids dialect 'affine'}}
  // expected-note@+1 {{pattern 'apply-to-arith' refused: modulo by non-positive value is not supported}}
  %0 = affine.apply affine_map<(d0) -> (d0 mod 0)>(%i)
  return %0 : index
}
