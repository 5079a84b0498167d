// RUN: gradus opt %s --apply-rules | FileCheck %s

rewrite.rule @or_from_and {
  %a = value
  %b = value
  %and = op "arith.andi"(%a, %b)
  %or = op "arith.ori"(%a, %b)
  match %and, %or
  %one_of_them = op "arith.xori"(%a, %b)
  %any_of_them = op "arith.xori"(%and, %one_of_them)
  replace %and, %any_of_them
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

// CHECK-LABEL: func.func @both(
// CHECK-NEXT:    [[AND:%.*]] = arith.andi %arg0, %arg1
// CHECK-NEXT:    [[XOR:%.*]] = arith.xori %arg0, %arg1
// CHECK-NEXT:    [[OR:%.*]] = arith.xori [[AND]], [[XOR]]
// CHECK-NEXT:    return [[AND]], [[OR]]
func.func @both(%a: i32, %b: i32) -> (i32, i32) {
  %and = arith.andi %a, %b : i32
  %or = arith.ori %b, %a : i32
  return %and, %or : i32, i32
}

// The operands of the new ops must dominate them.
// CHECK-LABEL: func.func @order(
// CHECK-NEXT:    arith.ori
// CHECK-NEXT:    arith.andi
func.func @order(%a: i32, %b: i32) -> (i32, i32) {
  %or = arith.ori %b, %a : i32
  %and = arith.andi %a, %b : i32
  return %and, %or : i32, i32
}

// CHECK-LABEL: func.func @others(
// CHECK:         arith.ori %arg0, %arg2
func.func @others(%a: i32, %b: i32, %c: i32) -> (i32, i32) {
  %and = arith.andi %a, %b : i32
  %or = arith.ori %a, %c : i32
  return %and, %or : i32, i32
}

// CHECK-LABEL: func.func @results(
// CHECK:         [[F:%.*]] = arith.constant false
// CHECK-NEXT:    return %arg0, [[F]]
func.func @results(%a: i32) -> (i32, i1) {
  %c = arith.constant 0 : i32
  %s:2 = arith.addui_extended %a, %c : i32, i1
  return %s#0, %s#1 : i32, i1
}
