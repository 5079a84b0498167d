func.func @f(%x: i32, %n: index) -> i32 {
  %0 = arith.addi %x, %n : i32
  return %0 : i32
}
