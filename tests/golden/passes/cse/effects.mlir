// RUN: gradus opt %s --cse --allow-unregistered-dialect

// Calls and unregistered ops may have any effect and are not merged.
func.func private @f(i32) -> i32
func.func @calls(%a: i32) -> i32 {
  %0 = call @f(%a) : (i32) -> i32
  %1 = call @f(%a) : (i32) -> i32
  %2 = "t.foreign"(%a) : (i32) -> i32
  %3 = "t.foreign"(%a) : (i32) -> i32
  %4 = arith.addi %0, %1 : i32
  %5 = arith.addi %2, %3 : i32
  %6 = arith.addi %4, %5 : i32
  return %6 : i32
}
// Equal divisions are merged: the second is UB only if the first is.
func.func @division(%a: i8, %b: i8) -> i8 {
  %0 = arith.divsi %a, %b : i8
  %1 = arith.divsi %a, %b : i8
  %2 = arith.addi %0, %1 : i8
  return %2 : i8
}
