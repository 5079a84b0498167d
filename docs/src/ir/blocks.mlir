func.func @blocks(%bytes: i32) -> i32 {
  %size = arith.constant 64 : i32
  %0 = arith.divui %bytes, %size : i32
  return %0 : i32
}
