// RUN: gradus opt %s --cse

func.func @equal(%a: i32, %b: i32) -> (i32, i32, i32) {
  %0 = arith.addi %a, %b : i32
  %1 = arith.addi %a, %b : i32
  %2 = arith.addi %b, %a : i32
  %3 = arith.subi %a, %b : i32
  %4 = arith.subi %b, %a : i32
  %5 = arith.muli %1, %2 : i32
  return %5, %3, %4 : i32, i32, i32
}
// Attributes, types and promises make a difference.
func.func @different(%a: i32, %b: i32) -> (i32, i32, i1, i1, i64, i16) {
  %0 = arith.addi %a, %b : i32
  %1 = arith.addi %a, %b overflow<nsw> : i32
  %2 = arith.cmpi eq, %a, %b : i32
  %3 = arith.cmpi ne, %a, %b : i32
  %4 = arith.extsi %a : i32 to i64
  %5 = arith.trunci %a : i32 to i16
  return %0, %1, %2, %3, %4, %5 : i32, i32, i1, i1, i64, i16
}
func.func @chains(%a: f32) -> f32 {
  %0 = arith.negf %a : f32
  %1 = arith.negf %a : f32
  %2 = arith.mulf %0, %0 : f32
  %3 = arith.mulf %1, %1 : f32
  %4 = arith.addf %2, %3 : f32
  return %4 : f32
}
func.func @results(%a: i8, %b: i8) -> (i8, i1) {
  %0, %1 = arith.addui_extended %a, %b : i8, i1
  %2, %3 = arith.addui_extended %a, %b : i8, i1
  return %0, %3 : i8, i1
}
