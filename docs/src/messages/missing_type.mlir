func.func @f(%x: i32) -> i32 {
  %0 = arith.addi %x, %x
  return %0 : i32
}
