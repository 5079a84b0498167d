// RUN: gradus opt %s --allow-unregistered-dialect --verify-diagnostics

// The parser reports all errors of a file.
func.func @a() {
  // expected-error@+1 {{use of undeclared SSA value name '%x'}}
  "t.use"(%x) : (i32) -> ()
  // expected-error@+1 {{use of undeclared SSA value name '%z'}}
  "t.use"(%z) : (i32) -> ()
  return
}
