// RUN: gradus opt %s --allow-unregistered-dialect --split-input-file --verify-diagnostics

// expected-error@+1 {{expected '"' in string literal}}
"t.x"() {a = "no end} : () -> ()

// -----

// expected-error@+1 {{expected an operation}}
= 3

// -----

"t.r"() ({
  "t.x"() : () -> ()
// expected-error@+2 {{expected '}' to close the region}}

// -----

// expected-error@+1 {{empty operation name}}
""() : () -> ()
