// RUN: gradus opt %s --allow-unregistered-dialect --split-input-file --verify-diagnostics

func.func @f() -> i32 {
  // expected-error@+1 {{use of undeclared SSA value name '%missing'}}
  return %missing : i32
}

// -----

// expected-note@+1 {{previously defined here}}
func.func @f(%a: i32) {
  "t.x"() : () -> ()
  // expected-error@+1 {{redefinition of SSA value '%a'}}
  %a = arith.constant 1 : i32
  return
}

// -----

// expected-note@+1 {{prior use here}}
func.func @f(%a: i32) {
  // expected-error@+1 {{expects different type than prior uses: 'f32' vs 'i32'}}
  "t.x"(%a) : (f32) -> ()
  return
}

// -----

func.func @f(%a: i32) {
  // expected-error@+1 {{expected 1 operand type}}
  "t.x"(%a) : () -> ()
  return
}

// -----

func.func @f() {
  // expected-error@+1 {{reference to an undefined block}}
  "t.jump"()[^nowhere] : () -> ()
}

// -----

func.func @f() {
  "t.jump"()[^a] : () -> ()
^a:
  "t.jump"()[^a] : () -> ()
// expected-error@+1 {{redefinition of block '^a'}}
^a:
  return
}

// -----

func.func @f() -> i8 {
  cf.br ^define
^use:
  // expected-note@+1 {{previously used here with type 'i8'}}
  return %later : i8
^define:
  // expected-error@+1 {{definition of SSA value '%later#0' has type 'f32'}}
  %later = arith.constant 1.0 : f32
  cf.br ^use
}

// -----

func.func @f() {
  // expected-error@+1 {{integer constant out of range for attribute}}
  affine.for %i = 1 to 9223372036854775810 {
  }
  return
}
