// RUN: gradus opt %s --canonicalize
// Selects that are implied by another select, by a comparison, or by their operands.
func.func @same_then(%c: i1, %a: i32, %b: i32, %d: i32) -> i32 {
  %0 = arith.select %c, %a, %b : i32
  %r = arith.select %c, %0, %d : i32
  return %r : i32
}
func.func @same_else(%c: i1, %a: i32, %b: i32, %d: i32) -> i32 {
  %0 = arith.select %c, %b, %d : i32
  %r = arith.select %c, %a, %0 : i32
  return %r : i32
}
func.func @not(%c: i1, %a: i32, %b: i32) -> i32 {
  %t = arith.constant true
  %f = arith.constant false
  %0 = arith.xori %c, %t : i1
  %r = arith.select %0, %a, %b : i32
  return %r : i32
}
func.func @to_condition(%c: i1) -> i1 {
  %t = arith.constant true
  %f = arith.constant false
  %r = arith.select %c, %t, %f : i1
  return %r : i1
}
func.func @to_not(%c: i1) -> i1 {
  %t = arith.constant true
  %f = arith.constant false
  %r = arith.select %c, %f, %t : i1
  return %r : i1
}
func.func @to_extui(%c: i1) -> i32 {
  %c1 = arith.constant 1 : i32
  %c0 = arith.constant 0 : i32
  %r = arith.select %c, %c1, %c0 : i32
  return %r : i32
}
func.func @to_extui_not(%c: i1) -> i32 {
  %c1 = arith.constant 1 : i32
  %c0 = arith.constant 0 : i32
  %r = arith.select %c, %c0, %c1 : i32
  return %r : i32
}
func.func @eq(%a: i32, %b: i32) -> i32 {
  %0 = arith.cmpi eq, %a, %b : i32
  %r = arith.select %0, %a, %b : i32
  return %r : i32
}
func.func @eq_swapped(%a: i32, %b: i32) -> i32 {
  %0 = arith.cmpi eq, %a, %b : i32
  %r = arith.select %0, %b, %a : i32
  return %r : i32
}
func.func @ne(%a: i32, %b: i32) -> i32 {
  %0 = arith.cmpi ne, %a, %b : i32
  %r = arith.select %0, %a, %b : i32
  return %r : i32
}
func.func @ne_swapped(%a: i32, %b: i32) -> i32 {
  %0 = arith.cmpi ne, %a, %b : i32
  %r = arith.select %0, %b, %a : i32
  return %r : i32
}
// A chain of selects is not merged: `andi` of the conditions may be poison where the select is not.
func.func @nested(%c: i1, %d: i1, %a: i32, %b: i32) -> i32 {
  %0 = arith.select %d, %a, %b : i32
  %r = arith.select %c, %0, %b : i32
  return %r : i32
}
// A scalar condition on vectors is not folded to an extension.
func.func @scalar_condition(%c: i1) -> vector<2xi32> {
  %c1 = arith.constant dense<1> : vector<2xi32>
  %c0 = arith.constant dense<0> : vector<2xi32>
  %r = arith.select %c, %c1, %c0 : vector<2xi32>
  return %r : vector<2xi32>
}
