// RUN: gradus opt %s --canonicalize
// Pairs of inverse ops.
func.func @sub_add(%a: i32, %b: i32) -> i32 {
  %0 = arith.subi %a, %b : i32
  %1 = arith.addi %0, %b : i32
  return %1 : i32
}
func.func @sub_add_swapped(%a: i32, %b: i32) -> i32 {
  %0 = arith.subi %a, %b : i32
  %1 = arith.addi %b, %0 : i32
  return %1 : i32
}
func.func @add_sub(%a: i32, %b: i32) -> i32 {
  %0 = arith.addi %a, %b : i32
  %1 = arith.subi %0, %b : i32
  return %1 : i32
}
func.func @add_sub_other(%a: i32, %b: i32) -> i32 {
  %0 = arith.addi %a, %b : i32
  %1 = arith.subi %0, %a : i32
  return %1 : i32
}
func.func @sub_sub(%a: i32, %b: i32) -> i32 {
  %0 = arith.subi %a, %b : i32
  %1 = arith.subi %0, %a : i32
  return %1 : i32
}
func.func @add_negated(%a: i8, %b: i8) -> i8 {
  %c = arith.constant -1 : i8
  %0 = arith.muli %b, %c : i8
  %1 = arith.addi %a, %0 : i8
  return %1 : i8
}
func.func @xor_xor(%a: i32, %b: i32) -> i32 {
  %0 = arith.xori %a, %b : i32
  %1 = arith.xori %b, %0 : i32
  return %1 : i32
}
func.func @xor_xor_right(%a: vector<3xi16>, %b: vector<3xi16>) -> vector<3xi16> {
  %0 = arith.xori %a, %b : vector<3xi16>
  %1 = arith.xori %0, %b : vector<3xi16>
  return %1 : vector<3xi16>
}
