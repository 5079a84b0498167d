// RUN: gradus opt %s --allow-unregistered-dialect --split-input-file --verify-diagnostics

// Constraints of traits.
func.func @same_type(%a: i32, %b: i64) {
  // expected-error@+1 {{'arith.muli' op requires the same type for all operands and results}}
  %0 = "arith.muli"(%a, %b) <{overflowFlags = #arith.overflow<none>}> : (i32, i64) -> i32
  return
}

// -----

func.func @same_shape(%a: tensor<2xi8>) {
  // expected-error@+1 {{requires the same shape for all operands and results}}
  %0 = arith.extsi %a : tensor<2xi8> to tensor<3xi32>
  return
}

// -----

func.func @terminator() {
  // expected-error@+1 {{'func.return' op must be the last operation in the parent block}}
  func.return
  func.return
}

// -----

// expected-error@+1 {{'builtin.module' op expects region #0 to have 0 or 1 blocks}}
"builtin.module"() ({
  "t.x"() : () -> ()
^next:
  "t.x"() : () -> ()
}) : () -> ()

// -----

// expected-error@+1 {{visibility expected to be one of ["public", "private", "nested"], but got "secret"}}
"func.func"() <{function_type = () -> (), sym_name = "f", sym_visibility = "secret"}> ({
}) : () -> ()

// -----

// expected-error@+1 {{requires attribute 'sym_name' to be a non-empty string}}
"func.func"() <{function_type = () -> (), sym_name = ""}> ({
}) : () -> ()
