// RUN: bits opt %s --canonicalize
func.func @rules(%x: i32, %n: i32) -> (i32, i32, i32, i32) {
  %c0 = arith.constant 0 : i32
  %c5 = arith.constant 5 : i32
  %c7 = arith.constant 7 : i32
  %0 = bits.rotl %x, %c0 : i32
  %1 = bits.rotr %x, %n : i32
  %2 = bits.rotl %1, %n : i32
  %3 = bits.rotl %x, %c5 : i32
  %4 = bits.rotl %3, %c7 : i32
  %5 = bits.popcount %1 : i32
  return %0, %2, %4, %5 : i32, i32, i32, i32
}
func.func @no_rule(%x: i24) -> i24 {
  %c1 = arith.constant 1 : i24
  %c-1 = arith.constant -1 : i24
  %0 = bits.rotl %x, %c-1 : i24
  %1 = bits.rotl %0, %c1 : i24
  return %1 : i24
}
func.func @constants() -> (i8, i8) {
  %c1 = arith.constant 129 : i8
  %0 = bits.rotl %c1, %c1 : i8
  %1 = bits.popcount %c1 : i8
  return %0, %1 : i8, i8
}
