// RUN: gradus opt %s --allow-unregistered-dialect --split-input-file --verify-diagnostics

// Number and types of operands and results.
func.func @count(%a: i32) {
  // expected-error@+1 {{'arith.addi' op expected 2 operands, but found 1}}
  %0 = "arith.addi"(%a) <{overflowFlags = #arith.overflow<none>}> : (i32) -> i32
  return
}

// -----

func.func @type(%a: f32) {
  // expected-error@+1 {{'arith.addi' op operand #0 must be signless-integer-like or index-like, but got 'f32'}}
  %0 = "arith.addi"(%a, %a) <{overflowFlags = #arith.overflow<none>}> : (f32, f32) -> f32
  return
}

// -----

func.func @results(%a: i32) {
  // expected-error@+1 {{'arith.addi' op requires a single result}}
  %0:2 = "arith.addi"(%a, %a) <{overflowFlags = #arith.overflow<none>}> : (i32, i32) -> (i32, i32)
  return
}
