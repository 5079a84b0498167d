// RUN: gradus opt %s --canonicalize
// Bitwise ops on extended values are computed in the narrow type.
func.func @and_extsi(%a: i8, %b: i8) -> i16 {
  %0 = arith.extsi %a : i8 to i16
  %1 = arith.extsi %b : i8 to i16
  %2 = arith.andi %0, %1 : i16
  return %2 : i16
}
func.func @and_extui(%a: i8, %b: i8) -> i16 {
  %0 = arith.extui %a : i8 to i16
  %1 = arith.extui %b : i8 to i16
  %2 = arith.andi %0, %1 : i16
  return %2 : i16
}
func.func @or_extsi(%a: i8, %b: i8) -> i16 {
  %0 = arith.extsi %a : i8 to i16
  %1 = arith.extsi %b : i8 to i16
  %2 = arith.ori %0, %1 : i16
  return %2 : i16
}
func.func @or_extui(%a: i8, %b: i8) -> i16 {
  %0 = arith.extui %a : i8 to i16
  %1 = arith.extui %b : i8 to i16
  %2 = arith.ori %0, %1 : i16
  return %2 : i16
}
func.func @xor_extsi(%a: i8, %b: i8) -> i16 {
  %0 = arith.extsi %a : i8 to i16
  %1 = arith.extsi %b : i8 to i16
  %2 = arith.xori %0, %1 : i16
  return %2 : i16
}
func.func @xor_extui(%a: i8, %b: i8) -> i16 {
  %0 = arith.extui %a : i8 to i16
  %1 = arith.extui %b : i8 to i16
  %2 = arith.xori %0, %1 : i16
  return %2 : i16
}
