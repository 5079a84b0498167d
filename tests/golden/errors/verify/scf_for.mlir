// RUN: gradus opt %s --allow-unregistered-dialect

func.func @f(%c: i1, %a: i32, %l: index) {
  // expected-error@+1 {{'scf.for' op 0-th region iter_arg and 0-th yielded value have different type: 'i32' != 'i1'}}
  %0 = scf.for %i = %l to %l step %l iter_args(%x = %a) -> (i32) {
    scf.yield %c : i1
  }
  return
}

// -----

func.func @f(%c: i1, %a: i32, %l: index) {
  // expected-error@+1 {{'scf.for' op different number of region iter_args and yielded values: 1 != 2}}
  %0 = scf.for %i = %l to %l step %l iter_args(%x = %a) -> (i32) {
    scf.yield %x, %x : i32, i32
  }
  return
}

// -----

func.func @f(%c: i1, %a: i32, %l: index) {
  // expected-error@+1 {{mismatch in number of loop-carried values and defined values}}
  %0 = scf.for %i = %l to %l step %l iter_args(%x = %a) -> (i32, i32) {
    scf.yield %x, %x : i32, i32
  }
  return
}

// -----

func.func @f(%c: i1, %a: i32, %l: index) {
  // expected-error@+1 {{'scf.for' op mismatch in number of loop-carried values and defined values}}
  "scf.for"(%l, %l, %l, %a) ({
  ^bb0(%x: index):
    scf.yield
  }) : (index, index, index, i32) -> ()
  return
}

// -----

func.func @f(%c: i1, %a: i32, %l: index) {
  // expected-error@+1 {{'scf.for' op different number of inits and region iter_args: 1 != 0}}
  "scf.for"(%l, %l, %l, %a) ({
  ^bb0(%x: index):
    scf.yield
  }) : (index, index, index, i32) -> (i32)
  return
}

// -----

func.func @f(%c: i1, %a: i32, %l: index) {
  // expected-error@+1 {{'scf.for' op 0-th init and 0-th region iter_arg have different type: 'i32' != 'i64'}}
  "scf.for"(%l, %l, %l, %a) ({
  ^bb0(%x: index, %y: i64):
    scf.yield
  }) : (index, index, index, i32) -> (i32)
  return
}

// -----

func.func @f(%c: i1, %a: i32, %l: index) {
  // expected-error@+1 {{'scf.for' op expected induction variable to be same type as bounds and step}}
  "scf.for"(%l, %l, %l, %a) ({
  ^bb0(%x: i32, %y: i32):
    scf.yield
  }) : (index, index, index, i32) -> (i32)
  return
}

// -----

func.func @f(%c: i1, %a: i32, %l: index) {
  // expected-error@+1 {{'scf.for' op 0-th region iter_arg and 0-th loop result have different type: 'i32' != 'i64'}}
  "scf.for"(%l, %l, %l, %a) ({
  ^bb0(%x: index, %y: i32):
    scf.yield %y: i32
  }) : (index, index, index, i32) -> (i64)
  return
}

// -----

func.func @f(%c: i1, %a: i32, %l: index) {
  // expected-error@+1 {{'scf.for' op expected body to have at least one argument, the induction variable}}
  "scf.for"(%l, %l, %l) ({
    scf.yield
  }) : (index, index, index) -> ()
  return
}

// -----

func.func @f(%c: i1, %a: i32, %l: index) {
  // expected-error@+1 {{'scf.for' op expects regions to end with 'scf.yield', found 'test.x'}}
  "scf.for"(%l, %l, %l) ({ // expected-note {{in custom textual format, the absence of terminator implies 'scf.yield'}}
  ^bb0(%i: index):
    "test.x"() : () -> ()
  }) : (index, index, index) -> ()
  return
}

// -----

func.func @f(%c: i1, %a: i32, %l: index) {
  // expected-error@+1 {{'scf.for' op expects region #0 to have 0 or 1 blocks}}
  "scf.for"(%l, %l, %l) ({
  ^bb0(%i: index):
    cf.br ^bb1
  ^bb1:
    scf.yield
  }) : (index, index, index) -> ()
  return
}

// -----

func.func @f(%c: i1, %a: i32, %l: f32) {
  // expected-error@+1 {{'scf.for' op operand #0 must be signless integer or index, but got 'f32'}}
  "scf.for"(%l, %l, %l) ({
  ^bb0(%i: f32):
    scf.yield
  }) : (f32, f32, f32) -> ()
  return
}

// -----

func.func @f(%c: i1, %a: i32, %l: index) {
  // expected-error@+1 {{'scf.for' op failed to verify that all of {lowerBound, upperBound, step} have same type}}
  "scf.for"(%l, %a, %l) ({
  ^bb0(%i: index):
    scf.yield
  }) : (index, i32, index) -> ()
  return
}

// -----

func.func @f(%l: index) {
  // expected-error@+1 {{expected 'step'}}
  scf.for %i = %l to %l {
  }
  return
}

// -----

func.func @f(%l: index, %x: i32) {
  // expected-error@+1 {{expected '->'}}
  scf.for %i = %l to %l step %l iter_args(%a = %x) {
    scf.yield %a : i32
  }
  return
}
