// RUN: gradus opt %s --dce

func.func @chain(%a: i32) -> i32 {
  %0 = arith.addi %a, %a : i32
  %1 = arith.muli %0, %a : i32
  %2 = arith.subi %1, %0 : i32
  %3 = arith.xori %a, %a : i32
  return %3 : i32
}
func.func @one_of_two(%a: i8, %b: i8) -> i1 {
  %0, %1 = arith.addui_extended %a, %b : i8, i1
  %2, %3 = arith.mulsi_extended %a, %b : i8
  return %1 : i1
}
