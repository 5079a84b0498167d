// RUN: gradus opt %s --allow-unregistered-dialect

// One error does not hide those in other functions.
func.func @a() {
  // expected-error@+1 {{use of undeclared SSA value name '%x'}}
  "t.use"(%x) : (i32) -> ()
  return
}
func.func @b() {
  // expected-error@+1 {{use of undeclared SSA value name '%y'}}
  "t.use"(%y) : (i32) -> ()
  return
}
