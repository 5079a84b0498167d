// RUN: gradus opt %s --apply-rules | FileCheck %s

rewrite.rule @remainder_from_quotient {
  %a = value
  %b = value
  %quotient = op "arith.divui"(%a, %b)
  %remainder = op "arith.remui"(%a, %b)
  match %quotient, %remainder
  %product = op "arith.muli"(%quotient, %b)
  %difference = op "arith.subi"(%a, %product)
  replace %quotient, %difference
}

rewrite.rule @add_nothing {
  %t = type
  %bool = type
  %x = value : %t
  %zero = number 0.0
  %sum:2 = op "arith.addui_extended"(%x, %zero) : %t, %bool
  match %sum
  %false = number 0.0
  replace %x, %false
}

// Same operands, so the quotient is computed once.
// CHECK-LABEL: func.func @both(
// CHECK-NEXT:    [[Q:%.*]] = arith.divui %arg0, %arg1
// CHECK-NEXT:    [[P:%.*]] = arith.muli [[Q]], %arg1
// CHECK-NEXT:    [[R:%.*]] = arith.subi %arg0, [[P]]
// CHECK-NEXT:    return [[Q]], [[R]]
func.func @both(%a: i32, %b: i32) -> (i32, i32) {
  %q = arith.divui %a, %b : i32
  %r = arith.remui %a, %b : i32
  return %q, %r : i32, i32
}

// The remainder of others stays.
// CHECK-LABEL: func.func @others(
// CHECK:         arith.remui %arg1, %arg0
func.func @others(%a: i32, %b: i32) -> (i32, i32) {
  %q = arith.divui %a, %b : i32
  %r = arith.remui %b, %a : i32
  return %q, %r : i32, i32
}

// CHECK-LABEL: func.func @results(
// CHECK:         [[F:%.*]] = arith.constant false
// CHECK-NEXT:    return %arg0, [[F]]
func.func @results(%a: i32) -> (i32, i1) {
  %c = arith.constant 0 : i32
  %s:2 = arith.addui_extended %a, %c : i32, i1
  return %s#0, %s#1 : i32, i1
}
