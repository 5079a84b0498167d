// RUN: not gradus check %s --apply-rules 2>&1 | FileCheck %s

// Both functions are rewritten wrongly. The reported rewrite belongs to the function that the error names, and the note points
// at its op.
rewrite.rule @half {
  %x = value
  %two = number 2.0
  %quotient = op "arith.divsi"(%x, %two)
  match %quotient
  %one = number 1.0
  %shifted = op "arith.shrsi"(%x, %one)
  replace %shifted
}

// CHECK:      [[#@LINE+2]]:1: error: '@first' has a different meaning after pass 'apply-rules'
// CHECK:      [[#@LINE+3]]:8: note: caused by rewrite {{[0-9]+}}: {{.*}}half
func.func @first(%x: i8) -> i8 {
  %two = arith.constant 2 : i8
  %0 = arith.divsi %x, %two : i8
  return %0 : i8
}

// CHECK:      note: on %0 = arith.divsi %arg0, {{.*}} : i8
// CHECK-NOT:  : i16
func.func @second(%x: i16) -> i16 {
  %two = arith.constant 2 : i16
  %0 = arith.divsi %x, %two : i16
  return %0 : i16
}
