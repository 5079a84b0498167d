// RUN: gradus opt %s --canonicalize
// Absorption, complement and constants of bitwise ops.
func.func @and_absorb(%a: i32, %b: i32) -> i32 {
  %0 = arith.andi %a, %b : i32
  %1 = arith.andi %a, %0 : i32
  return %1 : i32
}
func.func @and_absorb_right(%a: i32, %b: i32) -> i32 {
  %0 = arith.andi %a, %b : i32
  %1 = arith.andi %0, %b : i32
  return %1 : i32
}
func.func @or_absorb(%a: i32, %b: i32) -> i32 {
  %0 = arith.ori %a, %b : i32
  %1 = arith.ori %b, %0 : i32
  return %1 : i32
}
func.func @and_and(%x: i32) -> i32 {
  %c5 = arith.constant 5 : i32
  %c7 = arith.constant 7 : i32
  %0 = arith.andi %x, %c5 : i32
  %1 = arith.andi %0, %c7 : i32
  return %1 : i32
}
func.func @or_or(%x: i32) -> i32 {
  %c5 = arith.constant 5 : i32
  %c7 = arith.constant 7 : i32
  %0 = arith.ori %x, %c5 : i32
  %1 = arith.ori %0, %c7 : i32
  return %1 : i32
}
func.func @xor_constants(%x: i32) -> i32 {
  %c5 = arith.constant 5 : i32
  %c7 = arith.constant 7 : i32
  %0 = arith.xori %x, %c5 : i32
  %1 = arith.xori %0, %c7 : i32
  return %1 : i32
}
func.func @and_not(%x: i32) -> i32 {
  %m = arith.constant -1 : i32
  %n = arith.xori %x, %m : i32
  %0 = arith.andi %x, %n : i32
  return %0 : i32
}
func.func @or_not(%x: i32) -> i32 {
  %m = arith.constant -1 : i32
  %n = arith.xori %x, %m : i32
  %0 = arith.ori %n, %x : i32
  return %0 : i32
}
func.func @not_compare(%a: i32, %b: i32) -> i1 {
  %t = arith.constant true
  %0 = arith.cmpi ult, %a, %b : i32
  %1 = arith.xori %0, %t : i1
  return %1 : i1
}
