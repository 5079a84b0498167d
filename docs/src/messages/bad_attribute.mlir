func.func @f(%a: i32, %b: i32) -> i1 {
  %0 = arith.cmpi lt, %a, %b : i32
  return %0 : i1
}
