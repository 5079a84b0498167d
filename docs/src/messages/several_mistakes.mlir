func.func @f(%x: i32) -> i32 {
  %0 = arith.addi %x, %y : i32
  %1 = arith.mulli %0, %x : i32
  return %z : i32
}
