// RUN: gradus opt %s --split-input-file --verify-diagnostics --allow-unregistered-dialect | FileCheck %s

// Expected diagnostics are no failure; programs without errors are printed.

// expected-note@below {{prior use here}}
func.func @f(%a: i32) {
  // expected-error-re@+1 {{expects different type than prior uses: '{{f[0-9]+}}' vs 'i32'}}
  "t.x"(%a) : (f32) -> ()
  return
}

// -----

// CHECK: func.func private @good()
func.func private @good()

// -----

func.func @g() {
  return %missing : i32 // expected-error {{use of undeclared SSA value name '%missing'}}
}
