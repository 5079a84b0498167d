func.func @f(%x: i32) -> i32 {
  %0 = "arith.addi"(%x, %x) : (i32, i32) -> i64
  %1 = arith.trunci %0 : i64 to i32
  return %1 : i32
}
