// RUN: bits opt %s --verify-diagnostics --split-input-file
func.func @second_byte(%x: i32) -> i8 {
  %0 = bits.extract %x from 8 : i32 to i8
  return %0 : i8
}

// -----

func.func @too_far(%x: i32) -> i8 {
  // expected-error@below {{extracts 8 bits from bit 28 on, but the operand has 32}}
  %0 = bits.extract %x from 28 : i32 to i8
  return %0 : i8
}
