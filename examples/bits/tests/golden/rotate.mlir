// RUN: bits opt %s
func.func @rotate(%x: i32, %n: i32) -> (i32, i32) {
  %0 = bits.rotl %x, %n : i32
  %1 = bits.rotr %x, %n : i32
  return %0, %1 : i32, i32
}
