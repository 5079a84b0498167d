func.func @f(%x: i32) -> i64 {
  %0 = arith.extsi %x : i32 to i16
  %1 = arith.extsi %x : i32 to i64
  return %1 : i64
}
