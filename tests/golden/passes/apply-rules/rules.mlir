// RUN: gradus opt %s --apply-rules | FileCheck %s

// Constants are folded, operands match in any order, and the computed attribute is used.
rewrite.rule @unsigned_division {
  %x = value
  %divisor = constant
  %quotient = op "arith.divui"(%x, %divisor)
  where "power_of_two"(%divisor)
  match %quotient
  %exponent = compute "log2"(%divisor)
  %amount = constant(%exponent)
  %shifted = op "arith.shrui"(%x, %amount)
  replace %shifted
}

rewrite.rule @distribute {
  %a = value
  %b = value
  %c = value
  %ab = op "arith.muli"(%a, %b)
  %ac = op "arith.muli"(%a, %c)
  %sum = op "arith.addi"(%ab, %ac)
  match %sum
  %bc = op "arith.addi"(%b, %c)
  %new = op "arith.muli"(%a, %bc)
  replace %new
}

// CHECK-LABEL: func.func @division(
// CHECK:         [[C3:%.*]] = arith.constant 3 : i32
// CHECK-NEXT:    [[R:%.*]] = arith.shrui %arg0, [[C3]]
// CHECK-NEXT:    return [[R]]
func.func @division(%a: i32) -> i32 {
  %c = arith.constant 8 : i32
  %0 = arith.divui %a, %c : i32
  return %0 : i32
}

// Not a power of two.
// CHECK-LABEL: func.func @other_division(
// CHECK:         arith.divui
func.func @other_division(%a: i32) -> i32 {
  %c = arith.constant 6 : i32
  %0 = arith.divui %a, %c : i32
  return %0 : i32
}

// CHECK-LABEL: func.func @products(
// CHECK-NEXT:    [[S:%.*]] = arith.addi %arg1, %arg2
// CHECK-NEXT:    [[P:%.*]] = arith.muli %arg0, [[S]]
// CHECK-NEXT:    return [[P]]
func.func @products(%a: i32, %b: i32, %c: i32) -> i32 {
  %0 = arith.muli %b, %a : i32
  %1 = arith.muli %a, %c : i32
  %2 = arith.addi %0, %1 : i32
  return %2 : i32
}
