// RUN: gradus opt %s --lower-affine --split-input-file --verify-diagnostics

func.func @modulo(%i: index) -> index {
  // expected-error@+1 {{modulo by non-positive value is not supported}}
  %0 = affine.apply affine_map<(d0) -> (d0 mod 0)>(%i)
  return %0 : index
}
