func.func @twice(%x: i32) -> i32 {
  %c0 = arith.constant 0 : i32
  %0 = arith.addi %x, %c0 : i32
  %1 = arith.addi %0, %x : i32
  %2 = arith.addi %0, %x : i32
  %3 = arith.muli %1, %2 : i32
  return %3 : i32
}
