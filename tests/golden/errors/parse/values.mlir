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
