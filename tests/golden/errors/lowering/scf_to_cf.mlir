// RUN: gradus opt %s --convert-scf-to-cf

// The body of a module is a single block.
module {
  %c = arith.constant true
  // expected-error@+3 {{failed to legalize operation 'scf.if' that was explicitly marked illegal}}
  // expected-note@+2 {{target 'cf' forbids op 'scf.if'}}
  // expected-note@+1 {{pattern 'if-to-branch' refused: the region of 'builtin.module' around it must be one block}}
  scf.if %c {
    cf.assert %c, "c"
  }
}

// -----

func.func @results(%t: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+3 {{failed to legalize operation 'scf.forall' that was explicitly marked illegal}}
  // expected-note@+2 {{target 'cf' forbids op 'scf.forall'}}
  // expected-note@+1 {{pattern 'forall-to-loops' refused: its results are tensors, which are to be bufferized first}}
  %0 = scf.forall (%i) in (4) shared_outs(%o = %t) -> (tensor<4xf32>) {
  }
  return %0 : tensor<4xf32>
}
