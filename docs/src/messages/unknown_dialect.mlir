func.func @f(%x: i32) -> i32 {
  %0 = airth.addi %x, %x : i32
  return %0 : i32
}
