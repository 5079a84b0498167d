func.func @mistakes(%x: i32) -> i32 {
  %y = arith.adid %x, %x : i32
  %z = arith.addi %x, %w : i32
  return %z : i32
}
