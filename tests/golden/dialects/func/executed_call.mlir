// RUN: gradus opt %s --canonicalize --cse

func.func @main(%a: i32) -> (i32, i32) {
  %0 = call @square(%a) : (i32) -> i32
  %1 = call @square(%0) : (i32) -> i32
  return %0, %1 : i32, i32
}
func.func @square(%a: i32) -> i32 {
  %0 = arith.muli %a, %a : i32
  return %0 : i32
}
