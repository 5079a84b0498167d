// RUN: bits opt %s --convert-bits-to-arith --canonicalize --cse
func.func @all(%x: i32, %n: i32) -> (i32, i32, i32, i8) {
  %0 = bits.rotl %x, %n : i32
  %1 = bits.rotr %x, %n : i32
  %2 = bits.popcount %x : i32
  %3 = bits.extract %x from 8 : i32 to i8
  return %0, %1, %2, %3 : i32, i32, i32, i8
}
