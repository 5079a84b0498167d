// RUN: gradus opt %s --allow-unregistered-dialect --split-input-file --verify-diagnostics

// expected-error@+1 {{integer constant out of range for attribute}}
"t.x"() {a = 256 : i8} : () -> ()

// -----

// expected-error@+1 {{tensor literal is invalid; ranks are not consistent between elements}}
"t.x"() {a = dense<[[1, 2], [3]]> : tensor<2x2xi32>} : () -> ()

// -----

// expected-error@+1 {{inferred shape of elements literal ([3]) does not match type ([2])}}
"t.x"() {a = dense<[1, 2, 3]> : tensor<2xi32>} : () -> ()

// -----

// expected-error@+1 {{elements literal must be a shaped type}}
"t.x"() {a = dense<1> : i32} : () -> ()

// -----

// expected-error@+1 {{duplicate key 'a' in dictionary attribute}}
"t.x"() {a = 1, a = 2} : () -> ()

// -----

// expected-error@+1 {{sparse index #0 is not contained within the value shape}}
"t.x"() {a = sparse<[[9]], [1]> : tensor<4xi32>} : () -> ()

// -----

// expected-error@+1 {{non-affine expression}}
"t.x"() {a = affine_map<(d0) -> (d0 * d0)>} : () -> ()

// -----

// expected-error@+1 {{use of undeclared identifier}}
"t.x"() {a = affine_map<(d0) -> (d1)>} : () -> ()

// -----

// expected-error@+1 {{attribute names with a '.' are reserved for dialect-defined names}}
#a.b = 1

// -----

#a = 1
// expected-error@+1 {{redefinition of}}
#a = 2

// -----

// expected-error@+1 {{expected location instance}}
"t.x"() {a = loc(callsite("a"))} : () -> ()
