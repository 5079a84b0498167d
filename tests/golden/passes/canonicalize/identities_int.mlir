// RUN: gradus opt %s --canonicalize

func.func @zero(%a: i32) -> (i32, i32, i32, i32, i32) {
  %c0 = arith.constant 0 : i32
  %0 = arith.addi %a, %c0 : i32
  %1 = arith.subi %a, %c0 : i32
  %2 = arith.muli %a, %c0 : i32
  %3 = arith.ori %a, %c0 : i32
  %4 = arith.shli %a, %c0 : i32
  return %0, %1, %2, %3, %4 : i32, i32, i32, i32, i32
}
func.func @one(%a: i32) -> (i32, i32, i32) {
  %c1 = arith.constant 1 : i32
  %0 = arith.muli %c1, %a : i32
  %1 = arith.divsi %a, %c1 : i32
  %2 = arith.divui %a, %c1 : i32
  return %0, %1, %2 : i32, i32, i32
}
func.func @same(%a: i8) -> (i8, i8, i8, i8, i1, i1) {
  %0 = arith.subi %a, %a : i8
  %1 = arith.andi %a, %a : i8
  %2 = arith.xori %a, %a : i8
  %3 = arith.maxsi %a, %a : i8
  %4 = arith.cmpi sle, %a, %a : i8
  %5 = arith.cmpi ult, %a, %a : i8
  return %0, %1, %2, %3, %4, %5 : i8, i8, i8, i8, i1, i1
}
func.func @ones(%a: i16) -> (i16, i16, i16) {
  %c = arith.constant -1 : i16
  %0 = arith.andi %a, %c : i16
  %1 = arith.ori %a, %c : i16
  %2 = arith.xori %a, %c : i16
  return %0, %1, %2 : i16, i16, i16
}
func.func @narrow(%a: i1, %b: i1) -> (i1, i1, i1) {
  %t = arith.constant true
  %0 = arith.muli %a, %t : i1
  %1 = arith.maxsi %a, %b : i1
  %2 = arith.addi %1, %1 : i1
  return %0, %1, %2 : i1, i1, i1
}
