// RUN: gradus opt %s --canonicalize
// Chains of additions and subtractions of constants are combined.
func.func @add_add(%x: i32) -> i32 {
  %c5 = arith.constant 5 : i32
  %c7 = arith.constant 7 : i32
  %0 = arith.addi %x, %c5 : i32
  %1 = arith.addi %0, %c7 : i32
  return %1 : i32
}
func.func @add_sub_right(%x: i32) -> i32 {
  %c5 = arith.constant 5 : i32
  %c7 = arith.constant 7 : i32
  %0 = arith.subi %x, %c5 : i32
  %1 = arith.addi %0, %c7 : i32
  return %1 : i32
}
func.func @add_sub_left(%x: i32) -> i32 {
  %c5 = arith.constant 5 : i32
  %c7 = arith.constant 7 : i32
  %0 = arith.subi %c5, %x : i32
  %1 = arith.addi %0, %c7 : i32
  return %1 : i32
}
func.func @sub_add(%x: i32) -> i32 {
  %c5 = arith.constant 5 : i32
  %c7 = arith.constant 7 : i32
  %0 = arith.addi %x, %c5 : i32
  %1 = arith.subi %0, %c7 : i32
  return %1 : i32
}
func.func @sub_of_add(%x: i32) -> i32 {
  %c5 = arith.constant 5 : i32
  %c7 = arith.constant 7 : i32
  %0 = arith.addi %x, %c5 : i32
  %1 = arith.subi %c7, %0 : i32
  return %1 : i32
}
func.func @sub_sub_right(%x: i32) -> i32 {
  %c5 = arith.constant 5 : i32
  %c7 = arith.constant 7 : i32
  %0 = arith.subi %x, %c5 : i32
  %1 = arith.subi %0, %c7 : i32
  return %1 : i32
}
func.func @sub_sub_left(%x: i32) -> i32 {
  %c5 = arith.constant 5 : i32
  %c7 = arith.constant 7 : i32
  %0 = arith.subi %c5, %x : i32
  %1 = arith.subi %0, %c7 : i32
  return %1 : i32
}
func.func @sub_of_sub(%x: i32) -> i32 {
  %c5 = arith.constant 5 : i32
  %c7 = arith.constant 7 : i32
  %0 = arith.subi %x, %c5 : i32
  %1 = arith.subi %c7, %0 : i32
  return %1 : i32
}
func.func @sub_of_sub_left(%x: i32) -> i32 {
  %c5 = arith.constant 5 : i32
  %c7 = arith.constant 7 : i32
  %0 = arith.subi %c5, %x : i32
  %1 = arith.subi %c7, %0 : i32
  return %1 : i32
}
func.func @mul_mul(%x: i32) -> i32 {
  %c5 = arith.constant 5 : i32
  %c7 = arith.constant 7 : i32
  %0 = arith.muli %x, %c5 : i32
  %1 = arith.muli %0, %c7 : i32
  return %1 : i32
}
func.func @vectors(%x: vector<2xi8>) -> vector<2xi8> {
  %c = arith.constant dense<[100, 3]> : vector<2xi8>
  %0 = arith.addi %x, %c : vector<2xi8>
  %1 = arith.addi %0, %c : vector<2xi8>
  return %1 : vector<2xi8>
}
