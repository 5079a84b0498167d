// RUN: gradus opt %s --convert-scf-to-cf

// Blocks cannot be several in a module.
// expected-note@+1 {{the op around it is here}}
module {
  %c = arith.constant true
  // expected-error@+1 {{'scf.if' op cannot be lowered in 'builtin.module', whose region must be one block}}
  scf.if %c {
    cf.assert %c, "c"
  }
}

// -----

func.func @results(%t: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{failed to legalize operation 'scf.forall' that was explicitly marked illegal}}
  %0 = scf.forall (%i) in (4) shared_outs(%o = %t) -> (tensor<4xf32>) {
  }
  return %0 : tensor<4xf32>
}
