func.func @products(%a: i32, %b: i32, %c: i32, %d: i32) -> i32 {
  %0 = arith.muli %a, %b : i32
  %1 = arith.addi %0, %d : i32
  %2 = arith.muli %c, %a : i32
  %3 = arith.addi %1, %2 : i32
  return %3 : i32
}
