// RUN: gradus opt %s

func.func @arithmetic(%a: i32, %b: i32) -> (i32, i32, i32, i32, i1) {
  %0 = arith.addi %a, %b : i32
  %1 = arith.subi %0, %b : i32
  %2 = arith.muli %1, %a : i32
  %3, %4 = arith.addui_extended %2, %b : i32, i1
  return %0, %1, %2, %3, %4 : i32, i32, i32, i32, i1
}
func.func @wide(%a: i16, %b: i16) -> (i16, i16, i16, i16) {
  %0, %1 = arith.mulsi_extended %a, %b : i16
  %2, %3 = arith.mului_extended %a, %b : i16
  return %0, %1, %2, %3 : i16, i16, i16, i16
}
func.func @promises(%a: i8, %b: i8) -> (i8, i8, i8, i8) {
  %0 = arith.addi %a, %b overflow<nsw> : i8
  %1 = arith.subi %a, %b overflow<nuw> : i8
  %2 = arith.muli %a, %b overflow<nsw, nuw> : i8
  %3 = arith.shli %a, %b overflow<nuw, nsw> {x.note} : i8
  return %0, %1, %2, %3 : i8, i8, i8, i8
}
