// RUN: bits opt %s
func.func @rotate(%x: i32, %n: i32) -> i32 {
  %0 = bits.rotl %x, %n : i32
  return %0 : i32
}

func.func @main() -> i8 {
  %x = arith.constant 129 : i8
  %n = arith.constant 1 : i8
  %0 = bits.rotl %x, %n : i8
  return %0 : i8
}
